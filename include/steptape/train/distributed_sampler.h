// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/ranks/communicator.h"

namespace steptape {

/// Options of DistributedSampler. Must be equal on all ranks.
struct DistributedSamplerOptions {
  /// Use a new random order in every epoch; false: the data set's order.
  bool shuffle = true;

  /// Seed of all orders: equal seed and epoch give the same order on every machine.
  std::uint64_t seed = 0;

  /// If the size is not divisible by the number of ranks: drop the last samples of the order
  /// instead of using some samples twice.
  bool dropLast = false;

  /// Give every rank equally many samples, as training requires. false: use every sample exactly
  /// once, as evaluation requires; the ranks' shares may then differ by one.
  bool evenShares = true;
};

/// How many samples all ranks together have used. Stored in checkpoints.
struct SamplerPosition {
  std::int64_t epoch = 0;
  /// Number of samples at the start of the epoch's order that are used, by any rank.
  std::int64_t samplesDone = 0;
};

/// Distributes the samples of a data set over the ranks, anew in every epoch.
///
///     steptape::DistributedSampler sampler(dataset.size(), *world);
///     for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
///       sampler.setEpoch(epoch);
///       for (std::int64_t index : sampler.indices()) { ... }
///     }
///
/// All ranks compute the same order and take every size-th sample, starting with their rank. No
/// communication.
///
/// When each rank has used k samples, the first k * size samples of the order are used. position()
/// returns that number, and resume() distributes the rest over the current ranks, whose number may
/// differ. With the same number of ranks, each rank continues with the samples that it would have
/// had.
///
/// @threads Thread-compatible: const methods may run concurrently.
/// @cost   8 bytes per sample of the data set, and about 10 ns per sample in setEpoch().
/// @source Resuming on another number of ranks: the idea of Horovod's ElasticSampler.
class STEPTAPE_EXPORT DistributedSampler {
 public:
  /// Starts with epoch 0.
  ///
  /// @param datasetSize Number of samples.
  /// @param world       The ranks that share them.
  /// @param options     See DistributedSamplerOptions.
  /// @throws Error(kInvalidArgument) if `datasetSize` is not positive.
  DistributedSampler(std::int64_t datasetSize, const Communicator& world,
                     DistributedSamplerOptions options = {});

  /// Distributes the samples of `epoch`. Without it, every epoch has the same order.
  void setEpoch(std::int64_t epoch) { resume({epoch, 0}); }

  /// Distributes the remaining samples of the current epoch.
  ///
  /// @param samplesDone As SamplerPosition::samplesDone; a value above the number of samples leaves
  ///         none.
  /// @throws Error(kInvalidArgument) if `samplesDone` is negative.
  void startAt(std::int64_t samplesDone) { resume({position_.epoch, samplesDone}); }

  /// Calls setEpoch() and startAt().
  void resume(const SamplerPosition& position);

  /// Returns the position of all ranks after each has used the first `used` of its indices().
  SamplerPosition position(std::int64_t used) const;

  /// Returns this rank's remaining samples of the epoch, in the order to use them.
  const std::vector<std::int64_t>& indices() const { return indices_; }
  /// Returns the number of samples in indices().
  std::int64_t size() const { return static_cast<std::int64_t>(indices_.size()); }
  /// Returns the number of samples of this rank in a whole epoch; the same in every epoch.
  std::int64_t epochSize() const;
  std::int64_t datasetSize() const { return datasetSize_; }
  const DistributedSamplerOptions& options() const { return options_; }

 private:
  std::vector<std::int64_t> order(std::int64_t epoch) const;
  /// Returns how many samples are distributed out of `count`, samples used twice included.
  std::int64_t dealtOf(std::int64_t count) const;

  std::int64_t datasetSize_;
  std::int64_t rank_;
  std::int64_t ranks_;
  DistributedSamplerOptions options_;
  SamplerPosition position_;
  std::vector<std::int64_t> indices_;
};

}  // namespace steptape
