// SPDX-License-Identifier: Apache-2.0
#include "steptape/train/batch_loader.h"

#include <algorithm>
#include <string>
#include <utility>

#include "steptape/base/status.h"

#include "train/data/batch_count.h"
#include "train/samples/byte_scaling.h"

#include <ATen/ops/empty.h>

namespace steptape {
namespace {

/// Samples of a shuffled data set are scattered in memory: prefetch this many samples ahead.
constexpr std::int64_t kImagesAhead = 2;

void prefetch(const std::uint8_t* bytes, std::int64_t size) {
  constexpr std::int64_t kCacheLine = 64;
  for (std::int64_t offset = 0; offset < size; offset += kCacheLine) {
    __builtin_prefetch(bytes + offset);
  }
}

}  // namespace

BatchLoader::~BatchLoader() = default;

std::int64_t BatchLoader::resumeEpoch(std::int64_t epoch, std::int64_t samplesDone) {
  throw Error(
      ErrorCode::kFailedPrecondition,
      "this BatchLoader cannot resume epoch " + std::to_string(epoch) + " after " +
          std::to_string(samplesDone) +
          " samples: it does not override resumeEpoch(). Resume on as many ranks as before");
}

ImageLoader::ImageLoader(ImageDataset dataset, DistributedSampler sampler, std::int64_t batchSize,
                         const Normalization& normalization)
    : dataset_(std::move(dataset)), sampler_(std::move(sampler)), batchSize_(batchSize) {
  if (batchSize <= 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "got a batch size of " + std::to_string(batchSize) + "; expected at least 1");
  }
  if (sampler_.datasetSize() > dataset_.size()) {
    throw Error(ErrorCode::kInvalidArgument, "the sampler deals more samples than the data set's " +
                                                 std::to_string(dataset_.size()) +
                                                 "; make it with dataset.size()");
  }
  const auto channels = static_cast<std::size_t>(dataset_.images().size(1));
  detail::train::ByteScale scale = detail::train::byteScale(normalization, channels);
  scale_ = std::move(scale.scale);
  offset_ = std::move(scale.offset);
}

std::int64_t ImageLoader::batches() const {
  return detail::train::batchCount(sampler_.epochSize(), batchSize_);
}

void ImageLoader::startEpoch(std::int64_t epoch, std::int64_t skippedBatches) {
  sampler_.setEpoch(epoch);
  position_ = std::min(skippedBatches * batchSize_, sampler_.size());
}

std::int64_t ImageLoader::resumeEpoch(std::int64_t epoch, std::int64_t samplesDone) {
  sampler_.resume({epoch, samplesDone});
  position_ = 0;
  return detail::train::batchCount(sampler_.size(), batchSize_);
}

bool ImageLoader::next(Batch& batch) {
  const std::int64_t count = std::min(batchSize_, sampler_.size() - position_);
  if (count == 0) {
    return false;
  }
  const at::Tensor& images = dataset_.images();
  const std::int64_t channels = images.size(1);
  const std::int64_t plane = images.size(2) * images.size(3);
  batch.inputs = at::empty({count, channels, images.size(2), images.size(3)}, at::kFloat);
  batch.targets = at::empty({count}, at::kLong);
  const std::vector<std::int64_t>& indices = sampler_.indices();
  const auto* pixels = images.data_ptr<std::uint8_t>();
  // Gathers and normalizes in one pass; tensor operations would make four passes.
  float* to = batch.inputs.data_ptr<float>();
  std::int64_t* target = batch.targets.data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < count; ++i, ++position_) {
    const std::int64_t index = indices[static_cast<std::size_t>(position_)];
    const std::uint8_t* from = pixels + index * channels * plane;
    if (i + kImagesAhead < count) {
      prefetch(
          pixels + indices[static_cast<std::size_t>(position_ + kImagesAhead)] * channels * plane,
          channels * plane);
    }
    for (std::size_t channel = 0; channel < scale_.size(); ++channel, from += plane, to += plane) {
      detail::train::scaleBytes(from, static_cast<std::size_t>(plane), scale_[channel],
                                offset_[channel], to);
    }
    target[i] = dataset_.labels().data_ptr<std::int64_t>()[index];
  }
  return true;
}

}  // namespace steptape
