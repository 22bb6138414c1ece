// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "steptape/ranks/communicator.h"

#include "train/replicas/gradients/gradient_slots.h"

namespace steptape::detail::train {

/// Page size: memory that ranks write concurrently is in separate pages.
constexpr std::size_t kPageBytes = 4096;

/// Returns the smallest multiple of `unit` that is at least `bytes`.
constexpr std::size_t roundUp(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

/// The memory that the ranks of a node share: after their barrier, a notice, the states and the
/// arrays of each rank.
class GradientMemory {
 public:
  /// A rank's message to the others, in addition to its gradients.
  struct alignas(64) Notice {
    double sumOfSquares;
    std::uint32_t request;
  };

  /// @param slots How many states a rank has.
  GradientMemory(const std::vector<FlatArray>& arrays, std::size_t slots, int localSize);

  std::size_t bytesNeeded() const { return gradients_ + ranks_ * gradientBytes_; }
  /// REQUIRES: `memory` has bytesNeeded(); called before the following.
  void place(std::shared_ptr<NodeMemory> memory) { memory_ = std::move(memory); }

  void* arrayOf(int rank, std::size_t array) const;
  Notice& noticeOf(int rank) const;
  GradientState* statesOf(int rank) const;

 private:
  std::shared_ptr<NodeMemory> memory_;
  std::size_t ranks_;
  std::size_t slots_;
  std::vector<std::size_t> arrayOffsets_;  // in a rank's gradients
  // Offsets in the memory, in bytes.
  std::size_t notices_;
  std::size_t states_;
  std::size_t gradients_;
  std::size_t gradientBytes_ = 0;  // of one rank
};

}  // namespace steptape::detail::train
