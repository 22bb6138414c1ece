// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "steptape/events/event.h"
#include "steptape/log/file_check.h"

#include "events/messages/value_facts.h"
#include "log/check/tag_kind.h"

namespace steptape::detail::log {

/// What a reader makes of a value, as words after "the reader" and after "both readers".
struct ValueOutcome {
  ReaderEffect effect;
  const char* ofOne;
  const char* ofBoth;
};

inline bool operator==(const ValueOutcome& a, const ValueOutcome& b) {
  return std::string_view(a.ofOne) == b.ofOne;
}

inline constexpr ValueOutcome kShown{ReaderEffect::kNone, "shows it", "show it"};
inline constexpr ValueOutcome kLeftOut{ReaderEffect::kLoss, "leaves it out", "leave it out"};
inline constexpr ValueOutcome kFails{ReaderEffect::kLoss, "shows nothing of the tag (HTTP 500)",
                                     "show nothing of the tag (HTTP 500)"};
inline constexpr ValueOutcome kFailsInAllRuns{ReaderEffect::kLoss,
                                              "shows nothing of the tag in any run (HTTP 500)",
                                              "show nothing of the tag in any run (HTTP 500)"};
inline constexpr ValueOutcome kNotDrawn{ReaderEffect::kLoss, "cannot draw it", "cannot draw it"};
inline constexpr ValueOutcome kFailsInDistributions{ReaderEffect::kLoss,
                                                    "shows no distributions of the tag (HTTP 500)",
                                                    "show no distributions of the tag (HTTP 500)"};
inline constexpr ValueOutcome kIsTrueOrFalse{ReaderEffect::kNote, "shows it as true or false",
                                             "show it as true or false"};
inline constexpr ValueOutcome kIsEmptyPoint{ReaderEffect::kNote, "shows an empty value",
                                            "show an empty value"};
inline constexpr ValueOutcome kIsPart{ReaderEffect::kLoss, "shows a part of it",
                                      "show a part of it"};
inline constexpr ValueOutcome kIsBroken{ReaderEffect::kLoss, "shows a broken picture",
                                        "show a broken picture"};
inline constexpr ValueOutcome kNotPlayed{ReaderEffect::kLoss, "does not play it", "do not play it"};
inline constexpr ValueOutcome kDropsCounts{ReaderEffect::kLoss, "drops the bucket",
                                           "drop the bucket"};
inline constexpr ValueOutcome kIgnoresLimits{ReaderEffect::kNote,
                                             "assigns the counts to the first limits",
                                             "assign the counts to the first limits"};
inline constexpr ValueOutcome kEndsLoading{ReaderEffect::kLoss, "shows nothing more of any run",
                                           "show nothing more of any run"};

/// Returns what the fast data server and the pages make of a value of a tag of this kind.
/// @source tensorboard/data/server/data_compat.rs, EventValue; tensorboard/plugins/*/*_plugin.py
ValueOutcome fastOutcome(const event::Value& value, const events::ValueFacts& facts,
                         const TagKind& kind);

/// Returns what the Python loader and the pages make of the value that `pythonKind` took last.
/// @source tensorboard/data_compat.py; tensorboard/dataclass_compat.py;
///         tensorboard/util/tensor_util.py, make_ndarray(); tensorboard/plugins/*/*_plugin.py
ValueOutcome pythonOutcome(const event::Value& value, const events::ValueFacts& facts,
                           const PythonKind& pythonKind);

/// The number of audio clips that each reader has of a value.
struct ClipCounts {
  std::optional<std::uint64_t> fastServer;  ///< None: the reader leaves the value out.
  std::optional<std::uint64_t> pythonLoader;
};

/// REQUIRES: the tag is audio.
ClipCounts clipCounts(const event::Value& value, bool omitsLabels);

// What a value is.

inline const event::Tensor* tensorIn(const event::Value& value) {
  return std::get_if<event::Tensor>(&value.data);
}

inline bool hasStrings(const event::Value& value) {
  const event::Tensor* const tensor = tensorIn(value);
  return tensor != nullptr && tensor->type == event::TensorType::kString;
}

inline bool isMetadataOnly(const event::Value& value) {
  return std::holds_alternative<std::monostate>(value.data);
}
/// Returns whether a tensor has the shape of a histogram.
inline bool isTable(const event::Tensor& tensor) {
  return tensor.shape.size() == 2 && tensor.shape[1] == 3;
}

}  // namespace steptape::detail::log
