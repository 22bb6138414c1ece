// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace steptape {

/// What LibTorch's own profiler says of an operator.
struct KinetoOp {
  std::uint64_t calls = 0;
  double selfNanos = 0;
};

/// Profiles `run` with it: with Kineto, or where LibTorch is built without with its predecessor.
std::map<std::string, KinetoOp> kinetoProfile(const std::function<void()>& run);

}  // namespace steptape
