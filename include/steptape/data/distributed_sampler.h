// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/comm/communicator.h"

namespace steptape {

/// How a DistributedSampler deals out the samples. The same on every rank.
struct DistributedSamplerOptions {
  /// Deals in a new random order every epoch; otherwise in the data set's order.
  bool shuffle = true;

  /// Decides all orders: the same seed and epoch give the same order on every machine.
  std::uint64_t seed = 0;

  /// Where the ranks do not divide the data set: leave out the last samples of the order instead of
  /// giving some samples twice.
  bool dropLast = false;

  /// Whether every rank gets equally many samples, as training needs it. false deals every sample
  /// exactly once, as evaluation needs it; the ranks' shares may then differ by one.
  bool evenShares = true;
};

/// How far all ranks together have come in the samples: what a checkpoint keeps.
struct SamplerPosition {
  std::int64_t epoch = 0;
  /// Samples at the beginning of the epoch's order that are used up, by whichever rank.
  std::int64_t samplesDone = 0;
};

/// Deals the samples of a data set to the ranks, anew for every epoch.
///
///     steptape::DistributedSampler sampler(dataset.size(), *world);
///     for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
///       sampler.setEpoch(epoch);
///       for (std::int64_t index : sampler.indices()) { ... }
///     }
///
/// All ranks compute the same order and take every size-th sample of it, beginning with their rank.
/// Nothing is communicated.
///
/// The ranks walk through the order side by side: when each has used k samples, it is the first
/// k * size of the order that are used up. position() says so, and resume() deals what is left to
/// the ranks that there are then, whichever number that is. On the same number of ranks each goes
/// on with the samples that it would have had.
///
/// @threads Thread-compatible: const methods may run concurrently.
/// @cost    8 bytes per sample of the data set, and about 10 ns per sample in setEpoch().
/// @source  Resuming on another number of ranks: the idea of Horovod's ElasticSampler.
class STEPTAPE_EXPORT DistributedSampler {
 public:
  /// Begins with epoch 0.
  ///
  /// @throws Error(kInvalidArgument) if `datasetSize` is not positive.
  DistributedSampler(std::int64_t datasetSize, const Communicator& world,
                     DistributedSamplerOptions options = {});

  /// Deals the samples of `epoch`. Without it every epoch has the same order.
  void setEpoch(std::int64_t epoch) { resume({epoch, 0}); }

  /// Deals what all ranks together have left of the epoch.
  ///
  /// @param samplesDone As SamplerPosition::samplesDone; more than there are leave nothing.
  /// @throws Error(kInvalidArgument) if `samplesDone` is negative.
  void startAt(std::int64_t samplesDone) { resume({position_.epoch, samplesDone}); }

  /// setEpoch() and startAt().
  void resume(const SamplerPosition& position);

  /// Where all ranks stand when each of them has used the first `used` of its indices().
  SamplerPosition position(std::int64_t used) const;

  /// This rank's samples in the order to use them: those of the epoch, or what startAt() left.
  const std::vector<std::int64_t>& indices() const { return indices_; }
  /// How many samples indices() has.
  std::int64_t size() const { return static_cast<std::int64_t>(indices_.size()); }
  /// How many samples this rank has in a whole epoch; the same in every epoch.
  std::int64_t epochSize() const;
  std::int64_t datasetSize() const { return datasetSize_; }
  const DistributedSamplerOptions& options() const { return options_; }

 private:
  std::vector<std::int64_t> order(std::int64_t epoch) const;
  /// Samples that are dealt of `count`, those that are dealt twice included.
  std::int64_t dealtOf(std::int64_t count) const;

  std::int64_t datasetSize_;
  std::int64_t rank_;
  std::int64_t ranks_;
  DistributedSamplerOptions options_;
  SamplerPosition position_;
  std::vector<std::int64_t> indices_;
};

}  // namespace steptape
