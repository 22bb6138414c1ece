// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "span/span_collector.h"

namespace steptape::detail {

/// Something that records spans besides zones, such as LibTorch's operators.
///
/// @threads Not thread-safe: the profiler's thread.
class SpanSource {
 public:
  virtual ~SpanSource() = default;

  /// Called when recording is on.
  virtual void switchOn() = 0;
  /// Of how many spans one is recorded, chosen at random.
  virtual int sampling() const = 0;
  /// What cannot be recorded, and why, as far as that is known by now.
  virtual std::vector<std::string> problems() const = 0;
  /// What recording one span costs the thread that records it, measured now. REQUIRES: it is on.
  virtual double measureNanosPerSpan() = 0;

  /// Called while recording is still on.
  virtual void switchOff() noexcept = 0;

  /// Hands over what devices have done, by their own clocks: spans that the host asked for from
  /// `since` to `until`, and have ended. Those before `since` are forgotten.
  ///
  /// @param waits Whether to wait for the ends of all of them.
  /// @threads One thread at a time, beside the profiler's.
  virtual void takeDeviceSpans(std::uint64_t since, std::uint64_t until, bool waits,
                               const std::function<void(const SpanBatch&)>& sink) = 0;
};

}  // namespace steptape::detail
