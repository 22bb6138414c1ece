// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>

#include "log/writer/captured_value.h"
#include "log/writer/series_table.h"

namespace steptape::detail::log {

/// Encodes captured values in their order, and keeps those that may wait, because encoding them
/// takes long.
///
/// @threads Not thread-safe: only for the backend thread.
class CapturedQueue {
 public:
  /// @param series Outlives the queue.
  explicit CapturedQueue(const SeriesTable* series) : series_(*series) {}

  /// Takes a value, and encodes it if it may not wait: CapturedValue::order decides.
  void take(std::unique_ptr<CapturedValue> captured, double wallTime);

  bool isEmpty() const { return waiting_.empty(); }
  /// Encodes the first value that waits, or a part of it. REQUIRES: the queue is not empty
  void encodeNext();

  /// Returns whether a value was encoded since forgetEncoded().
  bool hasEncoded() const { return hasEncoded_; }
  void forgetEncoded() { hasEncoded_ = false; }

 private:
  struct WaitingValue {
    std::unique_ptr<CapturedValue> captured;
    double wallTime;
  };

  bool encode(CapturedValue* captured, double wallTime) noexcept;

  const SeriesTable& series_;
  std::deque<WaitingValue> waiting_;
  bool hasEncoded_ = false;
};

}  // namespace steptape::detail::log
