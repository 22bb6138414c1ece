// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <future>
#include <vector>

#include <steptape/data/distributed_sampler.h>

#include "image_folder.h"

/// Images and their classes. The pixels are bytes, not yet normalized.
struct ByteBatch {
  std::vector<std::uint8_t> pixels;  ///< (n, 3, size, size)
  std::vector<std::int64_t> labels;  ///< (n)
};

/// Reads this rank's images, one batch ahead of the caller, in an endless sequence of epochs.
///
/// @threads Not thread-safe: one thread at a time.
class ImageBatches {
 public:
  /// @param folder  Must outlive this object.
  /// @param workers Number of threads that decode.
  ImageBatches(const ImageFolder& folder, steptape::DistributedSampler sampler,
               std::int64_t batchSize, std::int64_t imageSize, std::int64_t workers);

  /// Returns the next batch.
  ///
  /// @throws std::runtime_error naming a file that cannot be read.
  ByteBatch next();

 private:
  std::future<ByteBatch> startNext();
  std::vector<std::int64_t> nextIndices();
  ByteBatch read(const std::vector<std::int64_t>& indices) const;

  const ImageFolder& folder_;
  steptape::DistributedSampler sampler_;
  std::size_t batchSize_;
  std::size_t imageSize_;
  std::int64_t workers_;
  std::int64_t epoch_ = 0;
  std::size_t position_ = 0;
  std::future<ByteBatch> ahead_;  // Last: its destructor waits for users of the members above.
};
