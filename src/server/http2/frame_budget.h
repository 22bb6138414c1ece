// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace steptape::detail::server {

/// Bounds the frames of a connection that ask for work but bring no request: PING, SETTINGS,
/// RST_STREAM, PRIORITY, CONTINUATION and empty DATA. A client that cancels 100 calls at a time, or
/// measures its bandwidth, stays far below the bound.
///
/// @threads Not thread-safe.
class FrameBudget {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::int64_t kAtOnce = 10'000;
  static constexpr std::int64_t kPerSecond = 1'000;

  /// Adds what the time since the last call earns.
  void refill(Time now) {
    using std::chrono::milliseconds;
    const auto passed = std::chrono::duration_cast<milliseconds>(now - refilled_);
    if (passed.count() > 0) {
      // Nothing is earned beyond kAtOnce, which keeps the product small.
      constexpr std::int64_t kLongest = kAtOnce * 1'000 / kPerSecond;
      const std::int64_t earned =
          std::min<std::int64_t>(passed.count(), kLongest) * kPerSecond / 1'000;
      left_ = std::min(kAtOnce, std::max<std::int64_t>(left_, 0) + earned);
      refilled_ += passed;
    }
  }

  /// @return false if too many frames came.
  bool take() { return --left_ >= 0; }

 private:
  std::int64_t left_ = kAtOnce;
  Time refilled_{};
};

}  // namespace steptape::detail::server
