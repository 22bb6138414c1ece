// SPDX-License-Identifier: Apache-2.0
#include "image_batches.h"

#include <atomic>
#include <utility>

#include "image_decoder.h"

ImageBatches::ImageBatches(const ImageFolder& folder, steptape::DistributedSampler sampler,
                           std::int64_t batchSize, std::int64_t imageSize, std::int64_t workers)
    : folder_(folder),
      sampler_(std::move(sampler)),
      batchSize_(static_cast<std::size_t>(batchSize)),
      imageSize_(static_cast<std::size_t>(imageSize)),
      workers_(workers),
      ahead_(startNext()) {}

ByteBatch ImageBatches::next() {
  ByteBatch batch = ahead_.get();
  ahead_ = startNext();
  return batch;
}

std::future<ByteBatch> ImageBatches::startNext() {
  return std::async(std::launch::async, [this, indices = nextIndices()] { return read(indices); });
}

std::vector<std::int64_t> ImageBatches::nextIndices() {
  std::vector<std::int64_t> indices;
  while (indices.size() < batchSize_) {
    if (position_ == sampler_.indices().size()) {
      sampler_.setEpoch(++epoch_);
      position_ = 0;
    }
    indices.push_back(sampler_.indices()[position_++]);
  }
  return indices;
}

ByteBatch ImageBatches::read(const std::vector<std::int64_t>& indices) const {
  const std::size_t bytes = 3 * imageSize_ * imageSize_;
  ByteBatch batch;
  batch.pixels.resize(indices.size() * bytes);
  for (const std::int64_t index : indices) {
    batch.labels.push_back(folder_.label(index));
  }
  std::atomic<std::size_t> nextImage{0};
  const auto decode = [&] {
    for (std::size_t i = nextImage++; i < indices.size(); i = nextImage++) {
      // cropAndScale() takes 7/8 of the shorter side.
      const RgbImage image = decodeImage(folder_.path(indices[i]), imageSize_ * 8 / 7);
      cropAndScale(image, imageSize_, &batch.pixels[i * bytes]);
    }
  };
  std::vector<std::future<void>> threads;
  for (std::int64_t i = 1; i < workers_; ++i) {
    threads.push_back(std::async(std::launch::async, decode));
  }
  decode();
  for (std::future<void>& thread : threads) {
    thread.get();
  }
  return batch;
}
