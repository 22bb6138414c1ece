// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include <steptape/train/batch_loader.h>

namespace example {

/// Returns a loader of images in memory: ImageLoader, which normalizes them on the training thread,
/// or a PrefetchLoader if there are workers.
inline std::unique_ptr<steptape::BatchLoader> imageLoader(const steptape::ImageDataset& images,
                                                          steptape::DistributedSampler sampler,
                                                          std::int64_t batchSize,
                                                          std::int64_t workers) {
  if (workers == 0) {
    return std::make_unique<steptape::ImageLoader>(images, std::move(sampler), batchSize);
  }
  steptape::PrefetchLoaderOptions options;
  options.workers = workers;
  return std::make_unique<steptape::PrefetchLoader>(
      std::make_shared<steptape::DatasetSource>(images), std::move(sampler), batchSize, options);
}

}  // namespace example
