// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace steptape {

/// The profile of an operator by LibTorch's own profiler.
struct KinetoOp {
  std::uint64_t calls = 0;
  double selfNanos = 0;
};

/// Profiles `run` with Kineto, or with its predecessor if LibTorch is built without Kineto.
std::map<std::string, KinetoOp> kinetoProfile(const std::function<void()>& run);

}  // namespace steptape
