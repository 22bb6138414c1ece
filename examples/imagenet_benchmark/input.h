// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include <steptape/train/batch_loader.h>
#ifdef IMAGENET_BENCHMARK_WITH_IMAGES
#include <steptape/images.h>
#endif

#include "on_ranks.h"
#include "options.h"

#include <torch/torch.h>

/// An endless input: the same random batch each time, or the images of a folder in batches of one
/// size.
class Input {
 public:
  Input(const Options& options, steptape::Communicator& world, torch::Device device)
      : device_(device) {
    if (!options.data.empty()) {
      loader_ = example::onAllRanks(world, [&] { return openFolder(options, world, device); });
      return;
    }
    const std::int64_t size = options.imageSize;
    synthetic_ = {torch::randn({options.benchmark.batchSize, 3, size, size}).to(device),
                  torch::randint(kClasses, {options.benchmark.batchSize}, torch::kLong).to(device)};
  }

  steptape::Batch next() {
    if (loader_ == nullptr) {
      return synthetic_;
    }
    steptape::Batch batch;
    if (!loader_->next(batch)) {
      loader_->startEpoch(++epoch_);
      loader_->next(batch);
    }
    return {batch.inputs.to(device_, /*non_blocking=*/true),
            batch.targets.to(device_, /*non_blocking=*/true)};
  }

 private:
  using Loader = std::unique_ptr<steptape::PrefetchLoader>;

  [[noreturn]] static void refuse(const std::string& got, const std::string& expected) {
    throw std::runtime_error("--data: got " + got + "; expected " + expected);
  }

#ifdef IMAGENET_BENCHMARK_WITH_IMAGES
  static Loader openFolder(const Options& options, const steptape::Communicator& world,
                           torch::Device device) {
    const steptape::ImageFolder folder(options.data);
    const auto classes = static_cast<std::int64_t>(folder.classes().size());
    if (classes > kClasses) {
      refuse(std::to_string(classes) + " classes", "at most " + std::to_string(kClasses));
    }
    const steptape::ImageTransforms transforms{steptape::RandomResizedCrop{options.imageSize},
                                               steptape::RandomHorizontalFlip{}};
    steptape::PrefetchLoaderOptions prefetch;
    prefetch.workers = options.workers;
    prefetch.dropLast = true;
    prefetch.pinMemory = device.is_cuda();
    auto loader = std::make_unique<steptape::PrefetchLoader>(
        std::make_shared<steptape::ImageFolderSource>(folder, transforms),
        steptape::DistributedSampler(folder.size(), world), options.benchmark.batchSize, prefetch);
    if (loader->batches() == 0) {
      refuse(std::to_string(folder.size()) + " images", "a whole batch for each rank");
    }
    return loader;
  }
#else
  static Loader openFolder(const Options&, const steptape::Communicator&, torch::Device) {
    refuse("a program without the component images",
           "one built where libjpeg-turbo and libpng are installed");
  }
#endif

  torch::Device device_;
  steptape::Batch synthetic_;
  Loader loader_;
  std::int64_t epoch_ = 0;
};
