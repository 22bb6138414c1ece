// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace steptape::detail {

/// Something that records spans besides zones, such as LibTorch's operators.
///
/// @threads Not thread-safe: the profiler's thread.
class SpanSource {
 public:
  virtual ~SpanSource() = default;

  /// Called when recording is on.
  ///
  /// @return what cannot be recorded and why; empty if everything is.
  virtual std::string switchOn() = 0;
  /// What recording one span costs the thread that records it, measured now. REQUIRES: it is on.
  virtual double measureNanosPerSpan() = 0;

  /// Called while recording is still on.
  virtual void switchOff() noexcept = 0;
};

}  // namespace steptape::detail
