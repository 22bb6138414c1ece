// SPDX-License-Identifier: Apache-2.0
#include "steptape/trainer/distributed_sampler.h"

#include <numeric>
#include <random>
#include <string>
#include <utility>

#include "steptape/base/error.h"

namespace steptape {

DistributedSampler::DistributedSampler(std::int64_t datasetSize, const Communicator& world,
                                       DistributedSamplerOptions options)
    : datasetSize_(datasetSize), rank_(world.rank()), ranks_(world.size()), options_(options) {
  if (datasetSize <= 0) {
    throw Error(ErrorCode::kInvalidArgument, "DistributedSampler got a data set of " +
                                                 std::to_string(datasetSize) +
                                                 " samples, wanted at least one");
  }
  setEpoch(0);
}

void DistributedSampler::setEpoch(std::int64_t epoch) {
  const std::vector<std::int64_t> samples = order(epoch);
  std::int64_t dealt = datasetSize_;
  if (options_.evenShares) {
    dealt -= datasetSize_ % ranks_;
    if (dealt != datasetSize_ && !options_.dropLast) {
      dealt += ranks_;
    }
  }
  indices_.clear();
  for (std::int64_t i = rank_; i < dealt; i += ranks_) {
    // Beyond the end the order begins again, as often as few samples for many ranks need it.
    indices_.push_back(samples[static_cast<std::size_t>(i % datasetSize_)]);
  }
}

std::vector<std::int64_t> DistributedSampler::order(std::int64_t epoch) const {
  std::vector<std::int64_t> samples(static_cast<std::size_t>(datasetSize_));
  std::iota(samples.begin(), samples.end(), 0);
  if (!options_.shuffle) {
    return samples;
  }
  // Fisher and Yates, written out because std::shuffle differs between standard libraries. The
  // remainder favours some indices by less than their number in 2^64.
  std::mt19937_64 random(options_.seed + static_cast<std::uint64_t>(epoch));
  for (std::size_t i = samples.size() - 1; i > 0; --i) {
    std::swap(samples[i], samples[random() % (i + 1)]);
  }
  return samples;
}

}  // namespace steptape
