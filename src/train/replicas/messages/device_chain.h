// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "steptape/ranks/communicator.h"
#include "steptape/train/gradient_sync.h"

#include "ranks/communicator/device_exchange.h"
#include "train/replicas/messages/chain_queue.h"
#include "train/replicas/messages/gradient_bucket.h"

#include <ATen/core/Tensor.h>
#include <c10/core/Stream.h>

namespace steptape::detail::train {

/// Replaces a bucket on a GPU by the sum of all ranks', divided by predivideFactor, by messages
/// between the GPUs. Each rank sums one part of the bucket, on its GPU:
///
///     other ranks' copies of the own part ─▶ sum ─▶ all other ranks
///
/// The ranks' numbers are added in the order of the ranks. Those of 16 bits are added in float32
/// and rounded once.
///
/// The host waits for the GPU between these stages, because MPI's messages follow no stream. So it
/// uses a stream of its own, whose work does not wait for the rest of backward().
class DeviceChain final : public CollectiveChain {
 public:
  /// `bucket` and `exchange` must outlive it.
  DeviceChain(const GradientBucket& bucket, ranks::DeviceExchange& exchange,
              const Communicator& world, const GradientSyncOptions& options);

  /// REQUIRES: GradientBucket::ready is set at the start.
  std::optional<ChainLink> advance() override;

 private:
  enum class Stage { kStart, kScatter, kSum, kGather, kStore, kEnd };

  void compress();
  ChainLink scatter();
  void sum();
  ChainLink gather();
  /// Returns the end of the stream's work.
  ChainLink endOfWork(bool isLast) const;
  at::Tensor partOf(int rank) const;

  const GradientBucket& bucket_;
  ranks::DeviceExchange& exchange_;
  int rank_;
  int ranks_;
  double predivideFactor_;
  c10::Stream stream_;
  at::Tensor wire_;                    // what is summed
  std::vector<at::Tensor> ownCopies_;  // by rank: its elements of this rank's part
  Stage stage_ = Stage::kStart;
};

}  // namespace steptape::detail::train
