// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "steptape/events/event.h"

#include "events/messages/summary_event.h"

namespace steptape::detail::events {

/// A view of a value in the payload whose data is too large for a single number.
struct LargeValueView {
  std::string_view tag;
  WireKey data = kTensorKey;  ///< The field that holds the value.
  bool hasMetadata = false;
  std::string_view metadata;  ///< A serialized SummaryMetadata.
};

/// Iterates over the values of an event without reading their data, which may take megabytes.
/// Otherwise like ScalarEventView.
///
/// The data is not checked: decoding a returned value may still fail.
class LargeValuesView {
 public:
  explicit LargeValuesView(std::string_view payload) : isGood_(event_.take(payload)) {}

  double wallTime() const { return event_.wallTime; }
  std::int64_t step() const { return event_.step; }

  /// @return false at the end, and at a value of another kind.
  bool next(LargeValueView* value) {
    if (!isGood_ || event_.values.isAtEnd()) {
      return false;
    }
    std::string_view bytes;
    isGood_ = event_.nextValue(&bytes) && takeValue(bytes, value);
    return isGood_;
  }

  /// Returns whether all values were large values. REQUIRES: next() returned false.
  bool isWhole() const { return isGood_; }

 private:
  /// A tensor of one number is smaller.
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

}  // namespace steptape::detail::events
