// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Wall time of the value at step 0; one second later at each step.
constexpr double kPeerWallTime = 1.7e9 + 0.25;

/// The options of a kind of value, with the wall time of `step` in peer_logs.py.
template <typename Options>
Options at(std::int64_t step) {
  Options options;
  options.wallTime = kPeerWallTime + static_cast<double>(step);
  return options;
}
