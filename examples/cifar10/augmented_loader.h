// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include <steptape/data/batch_loader.h>
#include <steptape/recipe/recipe.h>

#include <torch/torch.h>

/// Shifts every image by up to kMargin pixels in each direction, padding with zeros, and mirrors
/// half of the images. The choices differ in every epoch.
///
/// The choices depend on seed, rank, epoch and batch only, so a resumed run sees the same images as
/// a run that was never stopped.
class AugmentedLoader final : public steptape::BatchLoader {
 public:
  static constexpr std::int64_t kMargin = 4;

  /// @param images Must outlive this object.
  AugmentedLoader(steptape::BatchLoader& images, int rank) : images_(images), rank_(rank) {}

  std::int64_t batches() const override { return images_.batches(); }
  std::uint64_t seed() const override { return images_.seed(); }
  void startEpoch(std::int64_t epoch, std::int64_t skippedBatches) override {
    images_.startEpoch(epoch, skippedBatches);
    epoch_ = epoch;
    batch_ = skippedBatches;
  }
  std::int64_t samplesDone() const override { return images_.samplesDone(); }
  std::int64_t resumeEpoch(std::int64_t epoch, std::int64_t samplesDone) override {
    const std::int64_t left = images_.resumeEpoch(epoch, samplesDone);
    epoch_ = epoch;
    batch_ = images_.batches() - left;
    return left;
  }

  bool next(steptape::Batch& batch) override {
    if (!images_.next(batch)) {
      return false;
    }
    batch.inputs = augment(batch.inputs);
    ++batch_;
    return true;
  }

 private:
  torch::Tensor augment(const torch::Tensor& images) const {
    const std::uint64_t epochSeed =
        steptape::rankSeed(seed() + static_cast<std::uint64_t>(epoch_), rank_);
    auto generator =
        at::make_generator<at::CPUGeneratorImpl>(epochSeed + static_cast<std::uint64_t>(batch_));
    const std::int64_t count = images.size(0);
    const auto draw = [&](std::int64_t below) {
      return torch::randint(below, {count, 1}, generator, torch::kLong);
    };
    const torch::Tensor up = draw(2 * kMargin + 1) + torch::arange(images.size(2));
    const torch::Tensor left = draw(2 * kMargin + 1) + torch::arange(images.size(3));
    const torch::Tensor columns = torch::where(draw(2) == 1, left.flip(1), left);

    const torch::Tensor padded =
        torch::constant_pad_nd(images, {kMargin, kMargin, kMargin, kMargin});
    const torch::Tensor image = torch::arange(count).view({-1, 1, 1, 1});
    const torch::Tensor channel = torch::arange(images.size(1)).view({1, -1, 1, 1});
    return padded.index(
        {image, channel, up.view({count, 1, -1, 1}), columns.view({count, 1, 1, -1})});
  }

  steptape::BatchLoader& images_;
  int rank_;
  std::int64_t epoch_ = 0;
  std::int64_t batch_ = 0;
};
