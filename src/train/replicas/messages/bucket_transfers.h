// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "steptape/ranks/communicator.h"
#include "steptape/train/gradient_sync.h"

#include "ranks/communicator/device_exchange.h"
#include "train/replicas/gradients/gradient_slots.h"
#include "train/replicas/messages/adasum.h"
#include "train/replicas/messages/chain_queue.h"
#include "train/replicas/messages/chain_thread.h"
#include "train/replicas/messages/device_sums.h"
#include "train/replicas/messages/gradient_bucket.h"

namespace steptape::detail::train {

/// Combines buckets over the ranks: by NCCL, or by a chain of collectives for each, which a thread
/// executes if the communicator works on any thread.
///
/// @threads Not thread-safe: one thread at a time.
class BucketTransfers {
 public:
  /// Collective. All but `options` outlive it.
  /// @param states       By slot; combined by combineStates().
  /// @param hasOwnThread Whether a thread executes chains, else poll() and finish().
  BucketTransfers(const std::vector<GradientSlot>& slots, std::vector<GradientBucket>& buckets,
                  std::vector<GradientState>& states, const std::shared_ptr<Communicator>& world,
                  const GradientSyncOptions& options, bool hasOwnThread);

  /// Passes on a bucket, whose gradients are in its memory. Those of all ranks are in one order.
  void start(std::size_t bucket);
  /// Passes on the states, after the buckets.
  void combineStates() { push(*stateExchange_); }
  /// Advances without waiting, if no thread does and this is the thread that made the object.
  void poll();
  /// Waits until all that was started has ended.
  /// @throws the error of a collective, now or before.
  void finish();

  /// Returns the sums by NCCL; null: there are none.
  DeviceSums* deviceSums() const { return deviceSums_.get(); }
  double waitSeconds() const { return static_cast<double>(waitNanos_) * 1e-9; }
  /// Returns where the buckets are combined, for GradientSync::describe(); "" for main memory.
  std::string describe() const;
  /// Returns why NCCL is not used, if it was tried.
  const std::string& note() const { return note_; }

 private:
  void sumOn(c10::Device device, Communicator& world);
  std::unique_ptr<CollectiveChain> makeChain(const GradientBucket& bucket) const;
  void push(CollectiveChain& chain);

  const std::vector<GradientSlot>& slots_;
  std::vector<GradientBucket>& buckets_;
  const GradientSyncOptions options_;
  const std::thread::id owner_ = std::this_thread::get_id();
  std::string note_;
  std::int64_t waitNanos_ = 0;

  // A duplicate if another thread uses it, so that its messages are not mixed with this one's.
  const std::shared_ptr<Communicator> world_;
  std::optional<AdasumGroups> adasumGroups_;
  std::unique_ptr<CollectiveChain> stateExchange_;
  std::unique_ptr<DeviceSums> deviceSums_;                 // null: the chains exchange the buckets
  std::unique_ptr<ranks::DeviceExchange> deviceExchange_;  // null: the chains use main memory
  std::vector<std::unique_ptr<CollectiveChain>> chains_;   // by bucket

  // One of the two is used. They are destroyed before the members that they use.
  ChainQueue queue_;
  std::optional<ChainThread> thread_;
};

}  // namespace steptape::detail::train
