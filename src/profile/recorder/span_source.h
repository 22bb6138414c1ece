// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "process/spans/span_collector.h"

namespace steptape::detail::profile {

/// A source of spans other than zones, such as LibTorch's operators.
///
/// @threads Not thread-safe: the profiler's thread.
class SpanSource {
 public:
  virtual ~SpanSource() = default;

  /// Called when recording is on.
  virtual void switchOn() = 0;
  /// Returns n if one of n spans, chosen at random, is recorded.
  virtual int sampling() const = 0;
  /// Returns the known reasons why something cannot be recorded.
  virtual std::vector<std::string> problems() const = 0;
  /// Measures the cost of recording one span on its thread. REQUIRES: recording is on.
  virtual double measureNanosPerSpan() = 0;

  /// Called while recording is still on.
  virtual void switchOff() noexcept = 0;

  /// Passes on spans of devices, timed by the devices' clocks: spans that the host requested
  /// between `since` and `until` and that have ended. Discards spans before `since`.
  ///
  /// @param waits Whether to wait until all of them have ended.
  /// @threads One thread at a time, which may be another thread than the profiler's.
  virtual void takeDeviceSpans(std::uint64_t since, std::uint64_t until, bool waits,
                               const std::function<void(const process::SpanBatch&)>& sink) = 0;
};

}  // namespace steptape::detail::profile
