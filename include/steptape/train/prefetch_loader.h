// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/train/batch_loader.h"
#include "steptape/train/distributed_sampler.h"
#include "steptape/train/image_dataset.h"
#include "steptape/train/image_transforms.h"
#include "steptape/train/sample_source.h"

#include <ATen/core/Tensor.h>

namespace steptape {

namespace detail::train {
class SampleWorkers;
struct ByteScale;
}  // namespace detail::train

/// Options of PrefetchLoader.
struct PrefetchOptions {
  /// Threads that read samples. 0: next() reads them on the calling thread.
  std::int64_t workers = 2;

  /// Batches that the workers may read ahead.
  std::int64_t prefetch = 2;

  /// Leave out the last batch of an epoch if it is smaller than the others.
  bool dropLast = false;

  /// Put batches into page-locked memory, which a CUDA device copies without waiting. Requires
  /// such a device.
  bool pinMemory = false;
};

/// Loads batches of any SampleSource, which worker threads read ahead.
///
///     auto source = std::make_shared<steptape::ImageFolderSource>(folder, transforms);
///     steptape::DistributedSampler sampler(source->size(), *world);
///     steptape::PrefetchLoader train(source, sampler, 64);
///     trainer.fit(train, test);
///
/// The sampler decides which samples this rank takes. Neither the number of workers nor their speed
/// changes the batches: the samples have the sampler's order, and their random numbers depend on
/// seed, epoch and sample. A run resumes in the middle of an epoch on any number of ranks.
///
/// If a sample cannot be read, the next() that should return it throws. Every next() throws then,
/// until startEpoch() or resumeEpoch(), which begin again. The destructor waits for the samples
/// that the workers are reading, and for no others.
///
/// @cost Each worker writes its samples in place into the tensor of the batch. Memory: `prefetch`
///       batches, and those that the caller holds. next() is a zone of the profiler, "next batch".
class STEPTAPE_EXPORT PrefetchLoader final : public BatchLoader {
 public:
  /// @param source    Its samples. Workers call it concurrently.
  /// @param sampler   Selects this rank's samples.
  /// @param batchSize Samples per batch on this rank; see PrefetchOptions::dropLast.
  /// @param options   See PrefetchOptions.
  /// @throws Error(kInvalidArgument) if `batchSize` or `options.prefetch` is not positive,
  ///         `options.workers` is negative, or the sampler was made for more samples than the
  ///         source has.
  PrefetchLoader(std::shared_ptr<const SampleSource> source, DistributedSampler sampler,
                 std::int64_t batchSize, const PrefetchOptions& options = {});
  ~PrefetchLoader() override;

  std::int64_t batches() const override;
  std::uint64_t seed() const override { return sampler_.options().seed; }
  void startEpoch(std::int64_t epoch, std::int64_t skippedBatches = 0) override;
  std::int64_t samplesDone() const override { return sampler_.position(taken_).samplesDone; }
  std::int64_t resumeEpoch(std::int64_t epoch, std::int64_t samplesDone) override;
  /// @shape `inputs`: (n, ...) with the source's shape, float32. `targets`: (n), int64.
  /// @throws Error with the code of what the source threw, and the number of the sample.
  bool next(Batch& batch) override;

 private:
  std::int64_t batchesOf(std::int64_t samples) const;
  void readFrom(std::int64_t first);
  void readAhead();
  void addBatch();
  /// Batch `number` is in the same slot as the batch `prefetch` later.
  Batch& slot(std::int64_t number);
  void read(std::int64_t epoch, std::int64_t number);

  std::shared_ptr<const SampleSource> source_;
  DistributedSampler sampler_;
  std::int64_t batchSize_;
  PrefetchOptions options_;
  std::vector<std::int64_t> shape_;
  std::vector<Batch> slots_;  ///< The batches that the workers fill; none before startEpoch().
  // In the sampler's indices.
  std::int64_t first_ = 0;  ///< Where reading began and where it ends,
  std::int64_t end_ = 0;
  std::int64_t ahead_ = 0;  ///< how far the slots reach,
  std::int64_t taken_ = 0;  ///< and how far next() has come.
  std::unique_ptr<detail::train::SampleWorkers>
      workers_;  // Last: the workers use all of the above.
};

/// Gives the images of an ImageDataset, transformed and normalized.
///
///     const steptape::ImageTransforms transforms{steptape::RandomCrop{32, 4},
///                                                steptape::RandomHorizontalFlip{}};
///     auto source = std::make_shared<steptape::DatasetSource>(dataset, transforms, normalization);
class STEPTAPE_EXPORT DatasetSource final : public SampleSource {
 public:
  /// @throws Error(kInvalidArgument) if `normalization` has neither one value nor one per channel.
  explicit DatasetSource(ImageDataset dataset, ImageTransforms transforms = {},
                         const Normalization& normalization = {});
  ~DatasetSource() override;

  std::int64_t size() const override { return dataset_.size(); }
  std::vector<std::int64_t> shape() const override;
  std::int64_t read(std::int64_t index, SampleRandom& random, float* input) const override;

 private:
  ImageDataset dataset_;
  ImageTransforms transforms_;
  std::vector<detail::train::ByteScale>
      scales_;  ///< One per channel: a data set has its planes apart.
};

/// Gives what a function returns for each index: a tensor and a class.
///
///     auto source = std::make_shared<steptape::FunctionSource>(
///         1000, std::vector<std::int64_t>{2}, [](std::int64_t index, steptape::SampleRandom&) {
///           return std::make_pair(torch::full({2}, index), index % 10);
///         });
class STEPTAPE_EXPORT FunctionSource final : public SampleSource {
 public:
  /// Returns input and target. Worker threads call it concurrently.
  using Function =
      std::function<std::pair<at::Tensor, std::int64_t>(std::int64_t index, SampleRandom& random)>;

  /// @param size     Number of samples.
  /// @param shape    Shape of every input.
  /// @param function Makes a sample. Its tensors may have any type; batches are float32.
  FunctionSource(std::int64_t size, std::vector<std::int64_t> shape, Function function)
      : size_(size), shape_(std::move(shape)), function_(std::move(function)) {}

  std::int64_t size() const override { return size_; }
  std::vector<std::int64_t> shape() const override { return shape_; }
  /// @throws Error(kInvalidArgument) if the tensor has another shape, and what the function throws.
  std::int64_t read(std::int64_t index, SampleRandom& random, float* input) const override;

 private:
  std::int64_t size_;
  std::vector<std::int64_t> shape_;
  Function function_;
};

}  // namespace steptape
