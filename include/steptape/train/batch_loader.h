// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/train/distributed_sampler.h"
#include "steptape/train/image_dataset.h"
#include "steptape/train/image_transforms.h"

#include <ATen/core/Tensor.h>

namespace steptape {

/// The input of one training step.
struct Batch {
  at::Tensor inputs;
  at::Tensor targets;

  std::int64_t size() const { return targets.size(0); }
};

/// Supplies a Trainer with batches: this rank's share of a data set. ImageLoader holds images in
/// memory; `<steptape/train/torch_data.h>` adapts data sets and loaders of torch::data. Derive from
/// it for other sources.
///
/// @threads Not thread-safe: one thread at a time.
class STEPTAPE_EXPORT BatchLoader {
 public:
  BatchLoader() = default;
  BatchLoader(const BatchLoader&) = delete;
  BatchLoader& operator=(const BatchLoader&) = delete;
  virtual ~BatchLoader();

  /// Value of batches() if the number is unknown until an epoch has been read.
  static constexpr std::int64_t kUnknownBatches = -1;

  /// Returns the number of batches in a whole epoch on this rank, or kUnknownBatches. In training
  /// all ranks must have equally many, unless TrainerOptions::unevenBatches is set.
  ///
  /// If the number is unknown on any rank, every rank reads one step ahead. A learning rate
  /// schedule, which depends on fractions of an epoch, is then an error, and a run resumes in the
  /// middle of an epoch only on the same number of ranks.
  virtual std::int64_t batches() const = 0;

  /// Returns the seed of the sample order. Checkpoints store it: a run that resumes in the middle
  /// of an epoch needs the same order.
  virtual std::uint64_t seed() const = 0;

  /// Goes to the beginning of `epoch`, and skips its first `skippedBatches` batches.
  virtual void startEpoch(std::int64_t epoch, std::int64_t skippedBatches = 0) = 0;

  /// Returns how many samples of the epoch all ranks together have received so far, for
  /// resumeEpoch(); all ranks are in the same step. Default: -1, unknown; then runs can resume in
  /// the middle of an epoch only on the same number of ranks.
  virtual std::int64_t samplesDone() const { return -1; }

  /// Skips the first `samplesDone` samples of `epoch`, however many ranks used them, and divides
  /// the remaining ones among the current ranks.
  ///
  /// @return the number of remaining batches on this rank.
  /// @throws Error(kFailedPrecondition) unless overridden.
  virtual std::int64_t resumeEpoch(std::int64_t epoch, std::int64_t samplesDone);

  /// Fills `batch` with newly allocated tensors.
  ///
  /// @return false at the end of the epoch.
  virtual bool next(Batch& batch) = 0;
};

/// Specialize this for a loader of another library so that Trainer::fit() accepts it: `static
/// std::unique_ptr<BatchLoader> adapt(Loader&)`. `<steptape/train/torch_data.h>` does so for the
/// data loaders of torch::data.
template <typename Loader, typename = void>
struct BatchLoaderTraits;

/// Refers to a BatchLoader, or to another library's loader through BatchLoaderTraits. The argument
/// type of Trainer::fit(). The loader must outlive it.
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

/// Loads batches of a data set in memory, in the order of a sampler.
///
///     steptape::DistributedSampler sampler(dataset.size(), *world);
///     steptape::ImageLoader loader(dataset, sampler, 64);
///
/// @cost One pass over the batch's pixels in next(): about 10 us for 64 images of 28 x 28.
class STEPTAPE_EXPORT ImageLoader final : public BatchLoader {
 public:
  /// @param dataset       The images.
  /// @param sampler       Selects this rank's samples.
  /// @param batchSize     Samples per batch on this rank; the last batch of an epoch may be
  ///         smaller.
  /// @param normalization One value per channel, or one for all channels.
  /// @throws Error(kInvalidArgument) if `batchSize` is not positive, the sampler was made for more
  ///         samples than the data set has, or `normalization` has neither one value nor one per
  ///         channel.
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
