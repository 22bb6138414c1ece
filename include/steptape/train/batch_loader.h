// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/train/distributed_sampler.h"
#include "steptape/train/samples.h"

#include <ATen/core/Tensor.h>

namespace steptape {

/// Reads an IDX file of unsigned bytes, the format of MNIST and Fashion-MNIST, plain or gzipped.
///
/// @return the elements as uint8, in the file's shape: (60000, 28, 28) for images, (60000) for
///         labels.
/// @throws Error(kIoError) if the file cannot be opened or read; Error(kDataLoss) if it is not an
///         IDX file, ends early or continues after its last element; Error(kInvalidArgument) if its
///         elements are not unsigned bytes. Each names the file, what was found and what was
///         expected.
/// @threads Thread-safe.
/// @cost   One pass. 45 MB of gzipped images take about 0.3 s, the time of inflating them.
/// @source "THE IDX FILE FORMAT" at http://yann.lecun.com/exdb/mnist/: two zero bytes, the element
///         type (8: unsigned byte), the number of dimensions, then each dimension as a big-endian
///         32-bit integer, then the elements in row-major order.
STEPTAPE_EXPORT at::Tensor loadIdx(const std::string& path);

/// The part of a data set: for training or for evaluation.
enum class Split { kTrain, kTest };

/// Labeled images in memory, as bytes.
///
/// Copies share the tensors, so a data set is cheap to pass by value.
///
/// @threads Thread-compatible: const methods may run concurrently.
class STEPTAPE_EXPORT ImageDataset {
 public:
  /// @param images (N, H, W) or (N, C, H, W), uint8.
  /// @param labels (N), uint8 or int64.
  /// @throws Error(kInvalidArgument) naming the wrong shape or type, or different numbers of labels
  ///         and images.
  ImageDataset(const at::Tensor& images, const at::Tensor& labels);

  /// Returns the number of images.
  std::int64_t size() const { return images_.size(0); }
  /// @shape (N, C, H, W), uint8, contiguous.
  const at::Tensor& images() const { return images_; }
  /// @shape (N), int64, contiguous.
  const at::Tensor& labels() const { return labels_; }

 private:
  at::Tensor images_;
  at::Tensor labels_;
};

/// Reads MNIST or Fashion-MNIST from its four files, such as `train-images-idx3-ubyte`, plain or
/// with `.gz`.
///
/// @param directory Directory of the files. Debian's dataset-fashion-mnist installs them in
///         /usr/share/datasets/fashion-mnist.
/// @param split     The part to read.
/// @throws Error(kIoError) if a file is missing, with instructions to get the data set; otherwise
///         as for loadIdx() and ImageDataset.
/// @cost   47 MB and 0.3 s for the training part.
STEPTAPE_EXPORT ImageDataset loadMnist(const std::string& directory, Split split);

/// Reads CIFAR-10 in its binary version: `data_batch_1.bin` to `data_batch_5.bin`, or
/// `test_batch.bin`.
///
/// @throws Error(kIoError) if a file is missing; Error(kDataLoss) if a file does not consist of
///         whole records or a label is above 9.
/// @source https://www.cs.toronto.edu/~kriz/cifar.html, "Binary version": records of one label byte
///         and 3 x 32 x 32 bytes, channel by channel.
STEPTAPE_EXPORT ImageDataset loadCifar10(const std::string& directory, Split split);

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

namespace detail::train {
class SampleWorkers;
struct ByteScale;
}  // namespace detail::train

/// Options of PrefetchLoader.
struct PrefetchLoaderOptions {
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
  /// @param batchSize Samples per batch on this rank; see PrefetchLoaderOptions::dropLast.
  /// @param options   See PrefetchLoaderOptions.
  /// @throws Error(kInvalidArgument) if `batchSize` or `options.prefetch` is not positive,
  ///         `options.workers` is negative, or the sampler was made for more samples than the
  ///         source has.
  PrefetchLoader(std::shared_ptr<const SampleSource> source, DistributedSampler sampler,
                 std::int64_t batchSize, const PrefetchLoaderOptions& options = {});
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
  PrefetchLoaderOptions options_;
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
