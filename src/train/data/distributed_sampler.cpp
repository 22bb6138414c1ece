// SPDX-License-Identifier: Apache-2.0
#include "steptape/train/distributed_sampler.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <utility>

#include "steptape/base/status.h"

namespace steptape {

DistributedSampler::DistributedSampler(std::int64_t datasetSize, const Communicator& world,
                                       DistributedSamplerOptions options)
    : datasetSize_(datasetSize), rank_(world.rank()), ranks_(world.size()), options_(options) {
  if (datasetSize <= 0) {
    throw Error(ErrorCode::kInvalidArgument, "DistributedSampler: got a data set of " +
                                                 std::to_string(datasetSize) +
                                                 " samples; expected at least one");
  }
  setEpoch(0);
}

void DistributedSampler::resume(const SamplerPosition& position) {
  if (position.samplesDone < 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "DistributedSampler: got samplesDone = " + std::to_string(position.samplesDone) +
                    "; expected at least 0");
  }
  position_ = {position.epoch, std::min(position.samplesDone, datasetSize_)};
  const std::vector<std::int64_t> samples = order(position_.epoch);
  const std::int64_t end = position_.samplesDone + dealtOf(datasetSize_ - position_.samplesDone);
  indices_.clear();
  for (std::int64_t i = position_.samplesDone + rank_; i < end; i += ranks_) {
    // After its end, the order starts again, several times if there are few samples for many ranks.
    indices_.push_back(samples[static_cast<std::size_t>(i % datasetSize_)]);
  }
}

SamplerPosition DistributedSampler::position(std::int64_t used) const {
  return {position_.epoch, std::min(position_.samplesDone + used * ranks_, datasetSize_)};
}

std::int64_t DistributedSampler::epochSize() const {
  return (dealtOf(datasetSize_) - rank_ + ranks_ - 1) / ranks_;
}

std::int64_t DistributedSampler::dealtOf(std::int64_t count) const {
  const std::int64_t beyond = count % ranks_;
  if (!options_.evenShares || beyond == 0) {
    return count;
  }
  return options_.dropLast ? count - beyond : count - beyond + ranks_;
}

std::vector<std::int64_t> DistributedSampler::order(std::int64_t epoch) const {
  std::vector<std::int64_t> samples(static_cast<std::size_t>(datasetSize_));
  std::iota(samples.begin(), samples.end(), 0);
  if (!options_.shuffle) {
    return samples;
  }
  // The Fisher-Yates shuffle, because std::shuffle differs between standard libraries. The
  // remainder favors some indices by less than their number in 2^64.
  std::mt19937_64 random(options_.seed + static_cast<std::uint64_t>(epoch));
  for (std::size_t i = samples.size() - 1; i > 0; --i) {
    std::swap(samples[i], samples[random() % (i + 1)]);
  }
  return samples;
}

}  // namespace steptape
