// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "steptape/event/event.h"

#include "checker/finding_list.h"

namespace steptape::detail {

/// What TensorBoard's readers take all values of a tag for: the first one decides.
struct TagKind {
  event::DataClass dataClass = event::DataClass::kUnknown;
  bool isDeclared = false;  ///< Whether the metadata names the class itself.
  std::string plugin;
};

/// The kind of a tag whose first value is `value`.
/// @source tensorboard/data/server/data_compat.rs, SummaryValue::initial_metadata
TagKind kindOf(const event::Value& value);

/// A rule that a value breaks.
struct FormProblem {
  CheckRule rule;
  std::string message;
};

/// Judges the first value of a tag by what it says of the tag.
std::optional<FormProblem> checkKind(const event::Value& value, const TagKind& kind);

/// Judges any value of a tag by whether it has the form that the readers expect of the tag.
/// @source tensorboard/data/server/data_compat.rs, EventValue; tensorboard/dataclass_compat.py
std::optional<FormProblem> checkForm(const event::Value& value, const TagKind& kind);

}  // namespace steptape::detail
