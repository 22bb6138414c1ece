// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "steptape/events/event.h"

#include "events/messages/summary_event.h"
#include "events/messages/wire_cursor.h"

namespace steptape::detail::events {

/// A view of one scalar in the payload.
struct ScalarView {
  std::string_view tag;
  float value = 0;
  bool isTensor = false;  ///< Rank-0 DT_FLOAT tensor; else a `simple_value`.
  bool hasMetadata = false;
  std::string_view metadata;  ///< A serialized SummaryMetadata.
};

/// Iterates over the scalars of an event in wire format without building a message. Nearly all
/// events hold scalars, and building a Protocol Buffers message takes ten times longer.
///
///     ScalarEventView event(payload);
///     ScalarView scalar;
///     while (event.next(&scalar)) { ... }
///     if (!event.isWhole()) { ... }  // not only scalars, or damaged: use decodeEvent()
///
/// It accepts only what writers of scalars write: these fields, each once, in the order of their
/// numbers, as Protocol Buffers serializes them. Everything else ends the iteration. Use the
/// results only if isWhole() returns true.
///
/// @cost No allocation; a few nanoseconds per scalar.
class ScalarEventView {
 public:
  explicit ScalarEventView(std::string_view payload) : isGood_(event_.take(payload)) {}

  double wallTime() const { return event_.wallTime; }
  std::int64_t step() const { return event_.step; }

  /// @return false at the end, and at anything that is not a scalar.
  bool next(ScalarView* scalar) {
    if (!isGood_ || event_.values.isAtEnd()) {
      return false;
    }
    const char* const begin = event_.values.position();
    std::string_view value;
    isGood_ = event_.nextValue(&value) && takeValue(value, scalar);
    const auto bytes = static_cast<std::size_t>(event_.values.position() - begin);
    form_ = isGood_ && !scalar->hasMetadata ? std::string_view(begin, bytes - sizeof(float))
                                            : std::string_view();
    return isGood_;
  }

  /// Returns the bytes before the value of the scalar that next() returned, if the value is its
  /// last field; else empty. They are the same for all scalars of a tag from one writer.
  std::string_view form() const { return form_; }

  /// Returns whether the whole event consists of scalars. REQUIRES: next() returned false.
  bool isWhole() const { return isGood_; }

 private:
  static bool takeValue(std::string_view bytes, ScalarView* scalar) {
    *scalar = ScalarView();
    WireCursor value(bytes);
    if (!value.key(kTagKey) || !value.bytes(&scalar->tag)) {
      return false;
    }
    scalar->isTensor = value.key(kTensorKey);
    if (scalar->isTensor) {
      std::string_view tensor;
      if (!value.bytes(&tensor) || !takeTensor(tensor, &scalar->value)) {
        return false;
      }
    } else if (!value.key(kSimpleValueKey) || !value.float32(&scalar->value)) {
      return false;
    }
    scalar->hasMetadata = value.key(kMetadataKey);
    if (scalar->hasMetadata && !(value.bytes(&scalar->metadata) && isMetadata(scalar->metadata))) {
      return false;
    }
    return value.isAtEnd();
  }

  static bool takeTensor(std::string_view bytes, float* number) {
    WireCursor tensor(bytes);
    std::uint64_t type = 0;
    if (!tensor.key(kTypeKey) || !tensor.varint(&type) ||
        type != static_cast<std::uint64_t>(event::TensorType::kFloat)) {
      return false;
    }
    std::string_view shape;
    if (tensor.key(kShapeKey) && !(tensor.bytes(&shape) && shape.empty())) {
      return false;
    }
    if (tensor.key(kFloatKey)) {
      return tensor.float32(number) && tensor.isAtEnd();
    }
    std::string_view content;
    return (tensor.key(kContentKey) || tensor.key(kPackedFloatKey)) && tensor.bytes(&content) &&
           content.size() == sizeof *number && WireCursor(content).float32(number) &&
           tensor.isAtEnd();
  }

  SummaryEvent event_;
  bool isGood_;
  std::string_view form_;
};

}  // namespace steptape::detail::events
