// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "events/messages/event_codec.h"
#include "events/messages/scalar_event_view.h"

namespace steptape {

/// Returns whether two numbers have the same bits: NaN equals NaN, and 0 does not equal -0.
template <typename Number>
bool hasSameBits(Number a, Number b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

inline bool isSameMetadata(const event::SummaryMetadata& a, const event::SummaryMetadata& b) {
  return a.pluginName == b.pluginName && a.pluginContent == b.pluginContent &&
         a.displayName == b.displayName && a.description == b.description &&
         a.dataClass == b.dataClass;
}

/// Returns how one scalar of the view differs from the decoded value; empty if it does not.
inline std::string scalarDifference(const detail::events::ScalarView& scalar,
                                    const event::Value& value) {
  if (scalar.tag != value.tag) {
    return "the tag";
  }
  if (scalar.hasMetadata != value.metadata.has_value()) {
    return "whether there is metadata";
  }
  event::SummaryMetadata metadata;
  if (!detail::events::decodeMetadata(scalar.metadata, &metadata).ok() ||
      !isSameMetadata(metadata, value.metadata.value_or(event::SummaryMetadata()))) {
    return "the metadata";
  }
  if (!scalar.isTensor) {
    const auto* const number = std::get_if<float>(&value.data);
    return number != nullptr && hasSameBits(*number, scalar.value) ? "" : "the simple value";
  }
  const auto* const tensor = std::get_if<event::Tensor>(&value.data);
  if (tensor == nullptr || tensor->type != event::TensorType::kFloat || !tensor->shape.empty() ||
      tensor->content.size() != sizeof(float)) {
    return "that it is a rank-0 float tensor";
  }
  float number;
  std::memcpy(&number, tensor->content.data(), sizeof number);
  return hasSameBits(number, scalar.value) ? "" : "the tensor's number";
}

/// The scalars of an event in ScalarEventView.
struct WalkedEvent {
  explicit WalkedEvent(std::string_view payload) {
    detail::events::ScalarEventView view(payload);
    for (detail::events::ScalarView scalar; view.next(&scalar);) {
      scalars.push_back(scalar);
    }
    isWhole = view.isWhole();
    wallTime = view.wallTime();
    step = view.step();
  }

  bool isWhole;
  double wallTime;
  std::int64_t step;
  std::vector<detail::events::ScalarView> scalars;
};

/// Returns how ScalarEventView and Protocol Buffers disagree about an event; empty if they agree,
/// or if the view leaves the event to Protocol Buffers.
inline std::string scalarDisagreement(std::string_view payload) {
  const WalkedEvent walked(payload);
  if (!walked.isWhole) {
    return "";
  }
  event::Event event;
  if (const Status status = detail::events::decodeEvent(payload, &event); !status.ok()) {
    return "that it is an event: " + status.message();
  }
  if (!hasSameBits(walked.wallTime, event.wallTime)) {
    return "the wall time";
  }
  if (walked.step != event.step) {
    return "the step";
  }
  const auto* const summary = std::get_if<event::Summary>(&event.what);
  if (summary == nullptr || summary->values.size() != walked.scalars.size()) {
    return "how many values there are";
  }
  for (std::size_t i = 0; i < walked.scalars.size(); ++i) {
    if (std::string difference = scalarDifference(walked.scalars[i], summary->values[i]);
        !difference.empty()) {
      return difference + " of value " + std::to_string(i);
    }
  }
  return "";
}

}  // namespace steptape
