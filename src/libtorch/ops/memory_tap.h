// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

namespace steptape::detail::libtorch {

/// During its lifetime, records allocations and deallocations on the thread that made it and on
/// LibTorch's threads that work for it.
///
/// @threads Construct and destroy it on one thread.
class MemoryTap {
 public:
  MemoryTap();
  ~MemoryTap();
  MemoryTap(const MemoryTap&) = delete;
  MemoryTap& operator=(const MemoryTap&) = delete;

  /// Returns why nothing is recorded; empty if it is recorded. LibTorch reports to one profiler per
  /// thread.
  const std::string& problem() const { return problem_; }

 private:
  class Reporter;
  class Guard;
  std::string problem_;
  std::unique_ptr<Guard> guard_;
};

}  // namespace steptape::detail::libtorch
