// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "steptape/ranks/communicator.h"
#include "steptape/train/gradient_sync.h"

#include "ranks/nccl/nccl_group.h"
#include "train/replicas/messages/gradient_bucket.h"

#include <c10/core/Stream.h>

namespace steptape::detail::train {

/// Returns the device that can sum the buckets; none, on every rank, if a rank's are in main memory
/// or on several devices, or if what the options want is not a sum. Collective.
std::optional<c10::Device> deviceForSums(const std::vector<GradientBucket>& buckets,
                                         Communicator& world, const GradientSyncOptions& options);

/// Sums buckets on GPUs by NCCL, on a stream of their own, while backward() goes on:
///
///     current stream     backward ▓▓▓▓▓▓▓┃▓▓▓▓▓▓▓▓▓▓┃▓▓▓▓        ┃ step
///                                    add()      add()        finish()
///     stream of sums                     ┃▒▒▒▒▒▒▒▒▒▒┃▒▒▒▒▒▒▒▒▒▒▒▒┃
///
/// The host waits for no GPU. A sum begins when the work that the current stream holds at add() has
/// ended, and the current stream continues after finish() when all sums have ended.
///
/// @threads Not thread-safe: one thread at a time.
class DeviceSums {
 public:
  /// Makes them for `buckets` on `device`, which must outlive them and hold zeros. Collective;
  /// waits for the devices.
  ///
  /// @param why If the result is null: receives the reason, the same on every rank. Empty if the
  ///            options do not want NCCL.
  /// @return null on every rank if NCCL cannot be used.
  static std::unique_ptr<DeviceSums> make(const std::vector<GradientBucket>& buckets,
                                          c10::Device device, Communicator& world,
                                          const GradientSyncOptions& options, std::string& why);

  /// Queues the sum of a bucket, divided by predivideFactor.
  /// @throws Error of NcclGroup::sum().
  void add(std::size_t bucket);
  /// Lets the current stream wait for all sums.
  /// @throws Error of NcclGroup::requireUsable().
  void finish();
  /// Returns the root's `value`, one float64 on the device, on every rank. The host does not wait:
  /// it is there for work that the current stream holds later.
  /// @throws Error of NcclGroup::sum().
  at::Tensor fromRoot(const at::Tensor& value, bool isRoot);
  /// Ends all sums, because the ranks are out of step.
  void abort(const std::string& why) noexcept { group_->abort(why); }

 private:
  /// Queues the sum of `data` and watches it. REQUIRES: stream_ is the current stream.
  void sum(const std::string& name, const at::Tensor& data);

  DeviceSums(const std::vector<GradientBucket>& buckets, std::unique_ptr<ranks::NcclGroup> group,
             const GradientSyncOptions& options);

  const std::vector<GradientBucket>& buckets_;
  std::unique_ptr<ranks::NcclGroup> group_;
  double predivideFactor_;
  c10::Device device_;
  c10::Stream stream_;
  std::vector<at::Tensor> wires_;  // by bucket; what is summed
};

}  // namespace steptape::detail::train
