// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "process/blackbox/state_page.h"

namespace steptape::detail::log {

/// The last values of one scalar series, for the state of the process.
///
/// @threads Not thread-safe: only for the backend.
class LastScalar {
 public:
  void add(float value, std::int64_t step, double wallTime) noexcept {
    values_.value = value;
    values_.step = step;
    values_.wall = wallTime;
    if (std::isfinite(value)) {
      values_.hasFinite = true;
      values_.finiteStep = step;
      values_.finiteValue = value;
    } else if (!values_.hasNonFinite) {
      values_.hasNonFinite = true;
      values_.firstNonFiniteStep = step;
    }
    hasChanged_ = true;
  }

  bool hasChanged() const noexcept { return hasChanged_; }
  /// Returns the values; hasChanged() is false until the next add().
  const process::TagValues& take() noexcept {
    hasChanged_ = false;
    return values_;
  }

 private:
  process::TagValues values_;
  bool hasChanged_ = false;
};

}  // namespace steptape::detail::log
