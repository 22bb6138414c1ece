// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "steptape/events/event.h"

#include "events/messages/value_facts.h"
#include "log/check/finding_list.h"
#include "log/check/tag_kind.h"

namespace steptape::detail::log {

/// A rule that a value breaks.
struct FormProblem {
  CheckRule rule;
  std::string message;
};

/// Checks whether both readers show a tag of these kinds on a page.
///
/// @param pythonKind Empty if no value of the tag has metadata.
std::optional<FormProblem> checkKind(const TagKind& kind, const std::optional<TagKind>& pythonKind);

/// Checks that the names of a tag are shown. `first` is the tag's first value.
std::optional<FormProblem> checkNames(const event::Value& first, const TagKind& kind);

/// Checks whether both readers show a value of a tag, apart from its step.
///
/// @param pythonKind Took the value last.
/// @source tensorboard/data/server/data_compat.rs, EventValue; tensorboard/dataclass_compat.py;
///         tensorboard/util/tensor_util.py, make_ndarray(); tensorboard/plugins/*/*_plugin.py
std::optional<FormProblem> checkForm(const event::Value& value, const events::ValueFacts& facts,
                                     const TagKind& kind, const PythonKind& pythonKind);

/// Like checkForm(), for a value that is the only one of its tag.
std::optional<FormProblem> checkForm(const event::Value& value);

}  // namespace steptape::detail::log
