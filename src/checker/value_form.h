// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "steptape/event/event.h"

#include "checker/finding_list.h"

namespace steptape::detail {

/// The kind of a tag in TensorBoard's readers, which its first value decides.
struct TagKind {
  event::DataClass dataClass = event::DataClass::kUnknown;
  bool isDeclared = false;  ///< Whether the metadata contains the class.
  std::string plugin;
};

/// Returns the kind of a tag whose first value is `value`.
/// @source tensorboard/data/server/data_compat.rs, SummaryValue::initial_metadata
TagKind kindOf(const event::Value& value);

/// A rule that a value breaks.
struct FormProblem {
  CheckRule rule;
  std::string message;
};

/// Checks the first value of a tag for a valid kind.
std::optional<FormProblem> checkKind(const event::Value& value, const TagKind& kind);

/// Checks whether a value of a tag has the form that the readers expect.
/// @source tensorboard/data/server/data_compat.rs, EventValue; tensorboard/dataclass_compat.py
std::optional<FormProblem> checkForm(const event::Value& value, const TagKind& kind);

}  // namespace steptape::detail
