// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/data/distributed_sampler.h"
#include "steptape/data/image_dataset.h"

#include <ATen/core/Tensor.h>

namespace steptape {

/// What a model sees in one step.
struct Batch {
  at::Tensor inputs;
  at::Tensor targets;

  std::int64_t size() const { return targets.size(0); }
};

/// Where a Trainer takes its batches from: this rank's share of a data set. ImageLoader holds
/// images in memory; for data sets and loaders of torch::data, <steptape/data/torch_data.h>. Derive
/// from it for other sources.
///
/// @threads Not thread-safe: one thread at a time.
class STEPTAPE_EXPORT BatchLoader {
 public:
  BatchLoader() = default;
  BatchLoader(const BatchLoader&) = delete;
  BatchLoader& operator=(const BatchLoader&) = delete;
  virtual ~BatchLoader();

  /// Of batches(): only reading finds the end of an epoch.
  static constexpr std::int64_t kUnknownBatches = -1;

  /// Batches in a whole epoch on this rank, or kUnknownBatches. In training all ranks must have
  /// equally many, unless TrainerOptions::unevenBatches lets them differ.
  ///
  /// If the number is unknown on any rank, every rank reads the batches of one step ahead. A
  /// schedule of the learning rate, which follows fractions of an epoch, is then an error, and a
  /// run resumes in the middle of an epoch only on the same number of ranks.
  virtual std::int64_t batches() const = 0;

  /// What decides the order of the samples. Kept in checkpoints: a run that goes on in the middle
  /// of an epoch must find the same order again.
  virtual std::uint64_t seed() const = 0;

  /// Goes to the beginning of `epoch`, or behind its first `skippedBatches`.
  virtual void startEpoch(std::int64_t epoch, std::int64_t skippedBatches = 0) = 0;

  /// How many samples of the epoch all ranks together have been given so far, as they all are in
  /// the same step: what resumeEpoch() takes. -1: this loader does not know, as it is unless
  /// overridden; its runs can go on in the middle of an epoch on the same number of ranks only.
  virtual std::int64_t samplesDone() const { return -1; }

  /// Goes behind the first `samplesDone` samples of `epoch`, whichever number of ranks used them,
  /// and shares the rest among the ranks that there are now.
  ///
  /// @return the batches that are left on this rank.
  /// @throws Error(kFailedPrecondition), unless overridden.
  virtual std::int64_t resumeEpoch(std::int64_t epoch, std::int64_t samplesDone);

  /// Fills `batch` with tensors of its own. @return false at the end of the epoch.
  virtual bool next(Batch& batch) = 0;
};

/// Specialize for the loader of another library to let Trainer::fit() take it:
/// `static std::unique_ptr<BatchLoader> adapt(Loader&)`. <steptape/data/torch_data.h> does so for
/// the data loaders of torch::data.
template <typename Loader, typename = void>
struct BatchLoaderTraits;

/// Refers to a BatchLoader, or to a loader of another library through BatchLoaderTraits: what
/// Trainer::fit() takes. The loader must outlive it.
class BatchLoaderRef {
 public:
  BatchLoaderRef(BatchLoader& loader) : loader_(&loader) {}  // NOLINT(google-explicit-constructor)
  template <typename Loader, typename Traits = BatchLoaderTraits<std::remove_cv_t<Loader>>,
            typename = decltype(Traits::adapt(std::declval<Loader&>()))>
  BatchLoaderRef(Loader& loader)  // NOLINT(google-explicit-constructor)
      : adapter_(Traits::adapt(loader)), loader_(adapter_.get()) {}

  BatchLoader& operator*() const { return *loader_; }
  BatchLoader* operator->() const { return loader_; }

 private:
  std::unique_ptr<BatchLoader> adapter_;
  BatchLoader* loader_;
};

/// Turns bytes 0..255 into what a network expects: (byte / 255 - mean) / std, channel by channel.
struct Normalization {
  /// One number per channel, or one for all. The default is that of the well-known MNIST examples.
  std::vector<double> mean = {0.1307};
  std::vector<double> std = {0.3081};
};

/// Loads batches of a data set in memory, in the order of a sampler.
///
///     steptape::ImageLoader loader(dataset, steptape::DistributedSampler(dataset.size(), *world),
///     64);
///
/// @cost One pass over the batch's pixels in next(): about 10 us for 64 images of 28 x 28.
class STEPTAPE_EXPORT ImageLoader final : public BatchLoader {
 public:
  /// @param batchSize Samples per batch on this rank; the last batch of an epoch may be smaller.
  /// @throws Error(kInvalidArgument) if `batchSize` is not positive, the sampler was made for more
  ///         samples than the data set has, or `normalization` fits neither one channel nor all.
  ImageLoader(ImageDataset dataset, DistributedSampler sampler, std::int64_t batchSize,
              const Normalization& normalization = {});

  std::int64_t batches() const override;
  std::uint64_t seed() const override { return sampler_.options().seed; }
  void startEpoch(std::int64_t epoch, std::int64_t skippedBatches = 0) override;
  std::int64_t samplesDone() const override { return sampler_.position(position_).samplesDone; }
  std::int64_t resumeEpoch(std::int64_t epoch, std::int64_t samplesDone) override;
  /// @shape `inputs`: (n, C, H, W), float32. `targets`: (n), int64.
  bool next(Batch& batch) override;

 private:
  ImageDataset dataset_;
  DistributedSampler sampler_;
  std::int64_t batchSize_;
  std::vector<float> scale_;  ///< Per channel: pixel = scale * byte + offset.
  std::vector<float> offset_;
  std::int64_t position_ = 0;  ///< In the sampler's indices.
};

}  // namespace steptape
