// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <future>
#include <vector>

#include <steptape/data/distributed_sampler.h>

#include "image_folder.h"

/// Images and their classes, ready for a network but for the scaling of the bytes.
struct ByteBatch {
  std::vector<std::uint8_t> pixels;  ///< (n, 3, size, size)
  std::vector<std::int64_t> labels;  ///< (n)
};

/// Reads this rank's images, one batch ahead of the caller, epoch after epoch without end.
///
/// @threads Not thread-safe: one thread at a time.
class ImageBatches {
 public:
  /// @param folder  Must outlive this object.
  /// @param workers Threads that decode.
  ImageBatches(const ImageFolder& folder, steptape::DistributedSampler sampler,
               std::int64_t batchSize, std::int64_t imageSize, std::int64_t workers);

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
  std::future<ByteBatch> ahead_;  // Last: its end waits for threads that use the members above.
};
