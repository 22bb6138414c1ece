// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "steptape/event/event.h"

#include "event/wire_cursor.h"

namespace steptape::detail {

/// One scalar of an event, where it lies in the payload.
struct ScalarView {
  std::string_view tag;
  float value = 0;
  bool isTensor = false;  ///< Of rank 0 and type DT_FLOAT; else a legacy `simple_value`.
  bool hasMetadata = false;
  std::string_view metadata;  ///< A serialized SummaryMetadata.
};

/// Walks over the scalars of an event in wire format and builds no message: nearly all events are
/// of this kind, and making one with Protocol Buffers takes ten times longer.
///
///     ScalarEventView event(payload);
///     ScalarView scalar;
///     while (event.next(&scalar)) { ... }
///     if (!event.isWhole()) { ... }  // something else, or damaged: ask decodeEvent()
///
/// It knows only what writers of scalars write, each field at most once; everything else ends the
/// walk. A caller may keep what it got only if isWhole().
///
/// @cost No allocation; a few nanoseconds a scalar.
class ScalarEventView {
 public:
  explicit ScalarEventView(std::string_view payload) : isGood_(takeEvent(payload)) {}

  double wallTime() const { return wallTime_; }
  std::int64_t step() const { return step_; }

  /// @return false at the end, and at what is no scalar.
  bool next(ScalarView* scalar) {
    if (!isGood_ || summary_.isAtEnd()) {
      return false;
    }
    std::string_view value;
    isGood_ = summary_.key() == kValueKey && summary_.bytes(&value) && takeValue(value, scalar);
    return isGood_;
  }

  /// Whether the event was scalars from its first byte to its last. REQUIRES: next() gave false.
  bool isWhole() const { return isGood_; }

 private:
  // A key is the field's number and, in the lower three bits, the wire type.
  // @source tensorflow/core/util/event.proto, tensorflow/core/framework/{summary,tensor}.proto
  enum : unsigned char {
    kWallTimeKey = 1 << 3 | 1,
    kStepKey = 2 << 3 | 0,
    kSummaryKey = 5 << 3 | 2,
    kValueKey = 1 << 3 | 2,
    kTagKey = 1 << 3 | 2,
    kSimpleValueKey = 2 << 3 | 5,
    kTensorKey = 8 << 3 | 2,
    kMetadataKey = 9 << 3 | 2,
    kTypeKey = 1 << 3 | 0,
    kShapeKey = 2 << 3 | 2,
    kContentKey = 4 << 3 | 2,
    kPackedFloatKey = 5 << 3 | 2,
    kFloatKey = 5 << 3 | 5,
  };

  /// Notes that a field was there. @return false if it was there before.
  static bool once(unsigned* seen, unsigned field) {
    const bool isFirst = (*seen & field) == 0;
    *seen |= field;
    return isFirst;
  }

  bool takeEvent(std::string_view payload) {
    enum : unsigned { kWallTime = 1, kStep = 2, kSummary = 4 };
    unsigned seen = 0;
    WireCursor event(payload);
    while (!event.isAtEnd()) {
      bool isGood = false;
      switch (event.key()) {
        case kWallTimeKey:
          isGood = once(&seen, kWallTime) && event.float64(&wallTime_);
          break;
        case kStepKey: {
          std::uint64_t step = 0;
          isGood = once(&seen, kStep) && event.varint(&step);
          step_ = static_cast<std::int64_t>(step);
          break;
        }
        case kSummaryKey: {
          std::string_view summary;
          isGood = once(&seen, kSummary) && event.bytes(&summary);
          summary_ = WireCursor(summary);
          break;
        }
        default:
          break;
      }
      if (!isGood) {
        return false;
      }
    }
    return (seen & kSummary) != 0;
  }

  static bool takeValue(std::string_view bytes, ScalarView* scalar) {
    enum : unsigned { kTag = 1, kNumber = 2, kMetadata = 4 };
    unsigned seen = 0;
    WireCursor value(bytes);
    while (!value.isAtEnd()) {
      bool isGood = false;
      switch (value.key()) {
        case kTagKey:
          isGood = once(&seen, kTag) && value.bytes(&scalar->tag);
          break;
        case kSimpleValueKey:
          scalar->isTensor = false;
          isGood = once(&seen, kNumber) && value.float32(&scalar->value);
          break;
        case kTensorKey: {
          std::string_view tensor;
          scalar->isTensor = true;
          isGood = once(&seen, kNumber) && value.bytes(&tensor) && takeTensor(tensor, scalar);
          break;
        }
        case kMetadataKey:
          isGood = once(&seen, kMetadata) && value.bytes(&scalar->metadata);
          break;
        default:
          break;
      }
      if (!isGood) {
        return false;
      }
    }
    scalar->hasMetadata = (seen & kMetadata) != 0;
    return (seen & (kTag | kNumber)) == (kTag | kNumber);
  }

  static bool takeTensor(std::string_view bytes, ScalarView* scalar) {
    enum : unsigned { kType = 1, kShape = 2, kNumber = 4 };
    unsigned seen = 0;
    WireCursor tensor(bytes);
    while (!tensor.isAtEnd()) {
      bool isGood = false;
      switch (tensor.key()) {
        case kTypeKey: {
          std::uint64_t type = 0;
          isGood = once(&seen, kType) && tensor.varint(&type) &&
                   type == static_cast<std::uint64_t>(TensorType::kFloat);
          break;
        }
        case kShapeKey: {  // no dimensions
          std::string_view shape;
          isGood = once(&seen, kShape) && tensor.bytes(&shape) && shape.empty();
          break;
        }
        case kContentKey:
        case kPackedFloatKey: {
          std::string_view content;
          isGood = once(&seen, kNumber) && tensor.bytes(&content) &&
                   content.size() == sizeof(float) && WireCursor(content).float32(&scalar->value);
          break;
        }
        case kFloatKey:
          isGood = once(&seen, kNumber) && tensor.float32(&scalar->value);
          break;
        default:
          break;
      }
      if (!isGood) {
        return false;
      }
    }
    return (seen & (kType | kNumber)) == (kType | kNumber);
  }

  double wallTime_ = 0;
  std::int64_t step_ = 0;
  WireCursor summary_;
  bool isGood_ = false;
};

}  // namespace steptape::detail
