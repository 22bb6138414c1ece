// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "steptape/event/event.h"

#include "event/summary_event.h"

namespace steptape::detail {

/// A value whose data is too large to be a single number, where it lies in the payload.
struct LargeValueView {
  std::string_view tag;
  WireKey data = kTensorKey;  ///< Which field holds the value.
  bool hasMetadata = false;
  std::string_view metadata;  ///< A serialized SummaryMetadata.
};

/// Walks over the values of an event without looking at their data, which may be megabytes: as
/// ScalarEventView otherwise.
///
/// The data is not checked: decoding a value that it found may still fail.
class LargeValuesView {
 public:
  explicit LargeValuesView(std::string_view payload) : isGood_(event_.take(payload)) {}

  double wallTime() const { return event_.wallTime; }
  std::int64_t step() const { return event_.step; }

  /// @return false at the end, and at any other value.
  bool next(LargeValueView* value) {
    if (!isGood_ || event_.values.isAtEnd()) {
      return false;
    }
    std::string_view bytes;
    isGood_ = event_.nextValue(&bytes) && takeValue(bytes, value);
    return isGood_;
  }

  /// Whether all values were such. REQUIRES: next() gave false.
  bool isWhole() const { return isGood_; }

 private:
  /// No tensor of one number takes this much.
  static constexpr std::size_t kMinBytes = 128;

  static bool takeValue(std::string_view bytes, LargeValueView* view) {
    *view = LargeValueView();
    WireCursor value(bytes);
    std::string_view data;
    if (!value.key(kTagKey) || !value.bytes(&view->tag) || !takeKind(&value, &view->data) ||
        !value.bytes(&data) || data.size() < kMinBytes) {
      return false;
    }
    view->hasMetadata = value.key(kMetadataKey);
    if (view->hasMetadata && !(value.bytes(&view->metadata) && isMetadata(view->metadata))) {
      return false;
    }
    return value.isAtEnd();
  }

  static bool takeKind(WireCursor* value, WireKey* kind) {
    for (const WireKey key : {kTensorKey, kImageKey, kHistogramKey, kAudioKey}) {
      if (value->key(key)) {
        *kind = key;
        return true;
      }
    }
    return false;
  }

  SummaryEvent event_;
  bool isGood_;
};

}  // namespace steptape::detail
