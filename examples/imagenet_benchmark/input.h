// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include <steptape/data/batch_loader.h>

#include "image_batches.h"
#include "image_folder.h"
#include "on_ranks.h"
#include "options.h"

#include <torch/torch.h>

/// An endless input: the same random batch each time, or the images of a folder.
class Input {
 public:
  Input(const Options& options, steptape::Communicator& world, torch::Device device)
      : options_(options), device_(device) {
    if (options.data.empty()) {
      const std::int64_t size = options.imageSize;
      synthetic_ = {
          torch::randn({options.benchmark.batchSize, 3, size, size}).to(device),
          torch::randint(kClasses, {options.benchmark.batchSize}, torch::kLong).to(device)};
      return;
    }
    folder_.emplace(example::onAllRanks(world, [&] { return openFolder(options.data); }));
    batches_ = std::make_unique<ImageBatches>(
        *folder_, steptape::DistributedSampler(folder_->size(), world), options.benchmark.batchSize,
        options.imageSize, options.workers);
  }

  steptape::Batch next() {
    if (batches_ == nullptr) {
      return synthetic_;
    }
    ByteBatch bytes = batches_->next();
    const std::int64_t size = options_.imageSize;
    const torch::Tensor pixels = torch::from_blob(
        bytes.pixels.data(), {options_.benchmark.batchSize, 3, size, size}, torch::kUInt8);
    const torch::Tensor labels =
        torch::from_blob(bytes.labels.data(), {options_.benchmark.batchSize}, torch::kLong);
    return {(pixels.to(device_, torch::kFloat) / 255 - mean_) / std_,
            labels.to(device_, torch::kLong, /*non_blocking=*/false, /*copy=*/true)};
  }

 private:
  static ImageFolder openFolder(const std::string& path) {
    ImageFolder folder(path);
    if (folder.classes() > kClasses) {
      throw std::runtime_error("image folder " + path + ": got " +
                               std::to_string(folder.classes()) + " classes; expected at most " +
                               std::to_string(kClasses));
    }
    return folder;
  }

  const Options& options_;
  torch::Device device_;
  steptape::Batch synthetic_;
  std::optional<ImageFolder> folder_;
  std::unique_ptr<ImageBatches> batches_;
  // Mean and standard deviation of ImageNet's pixels.
  torch::Tensor mean_ = torch::tensor({0.485, 0.456, 0.406}).view({3, 1, 1}).to(device_);
  torch::Tensor std_ = torch::tensor({0.229, 0.224, 0.225}).view({3, 1, 1}).to(device_);
};
