// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "steptape/distributed/communicator.h"
#include "steptape/parallel/gradient_sync.h"

#include "parallel/gradient_slots.h"

namespace steptape::detail {

/// Averages the gradients of all ranks by messages, bucket by bucket, as far as possible while
/// backward() still runs.
///
/// From its construction on it notes in which order the gradients get ready; layOut() makes buckets
/// in that order, the root's on every rank.
///
/// Not thread-safe: one thread at a time, the communicator's; backward() may run its hooks on
/// another, one at a time.
class MessageGradients {
 public:
  /// `slots` must live as long. Only with GradientSyncOptions::overlap are there hooks.
  MessageGradients(std::vector<GradientSlot>& slots, std::shared_ptr<Communicator> world,
                   const GradientSyncOptions& options);
  MessageGradients(const MessageGradients&) = delete;
  MessageGradients& operator=(const MessageGradients&) = delete;
  ~MessageGradients();

  /// Makes the buckets, and gives the slots of `dense` their places. Collective; once, before the
  /// first exchange().
  void layOut(const std::vector<std::size_t>& dense);

  /// Whether the backward() that comes next is the last one before exchange(): hooks start buckets
  /// then, and only note the order otherwise. Off at first.
  void setOverlapping(bool isOverlapping);

  /// Makes the sum of all ranks' gradients, times `scale`, that of each slot: in slot.gradient.
  /// With GradientReduction::kAdasum their combination, whatever `scale`. Starts what hooks have
  /// not started, and waits. Collective.
  ///
  /// @throws Error(kFailedPrecondition) naming a parameter whose gradient changed after a hook had
  ///         sent it: a second backward() in the same step.
  void exchange(double scale);

  /// Whether any rank had a gradient for the slot. Valid after exchange().
  GradientState stateOf(std::size_t slot) const;

  double waitSeconds() const;
  /// "25 MiB buckets, 3 of them, float16, overlapped by a thread of its own" or so.
  std::string describe() const;

 private:
  class Impl;

  std::unique_ptr<Impl> impl_;
};

}  // namespace steptape::detail
