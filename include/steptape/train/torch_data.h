// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/train/batch_loader.h"
#include "steptape/train/distributed_sampler.h"

#include <torch/data/dataloader.h>
#include <torch/data/example.h>
#include <torch/data/samplers/base.h>
#include <torch/data/transforms/stack.h>

// Lets Trainer::fit() take torch::data: data sets through DatasetLoader, data loaders directly.

namespace steptape {

namespace detail::train {

inline Batch toBatch(torch::data::Example<> example) {
  return {std::move(example.data), std::move(example.target)};
}
inline Batch toBatch(std::vector<torch::data::Example<>> examples) {
  return toBatch(torch::data::transforms::Stack<>().apply_batch(std::move(examples)));
}

template <typename Loader>
inline constexpr bool kHasTensorExamples =
    std::is_same_v<typename Loader::BatchType, torch::data::Example<>> ||
    std::is_same_v<typename Loader::BatchType, std::vector<torch::data::Example<>>>;

template <typename Dataset, typename Batch, typename Request>
std::true_type isTorchLoader(const torch::data::DataLoaderBase<Dataset, Batch, Request>*);
std::false_type isTorchLoader(const void*);

template <typename Loader>
using RequiresTorchLoader =
    std::enable_if_t<decltype(isTorchLoader(std::declval<const Loader*>()))::value>;

/// Passes over a torch::data data loader, one after the other.
template <typename Loader>
class TorchLoaderPass {
  static_assert(kHasTensorExamples<Loader>,
                "the batches are not torch::data::Example<> of two tensors: map the data set with "
                "a transform that makes them, such as torch::data::transforms::Stack<>()");

 public:
  explicit TorchLoaderPass(std::shared_ptr<Loader> loader) : loader_(std::move(loader)) {}

  const Loader& loader() const { return *loader_; }

  /// Reads the rest of the previous pass, which a data loader with workers requires.
  void finish() {
    if (at_ && loader_->options().workers > 0) {
      Batch rest;
      while (next(rest)) {
        rest = {};
      }
    }
    at_.reset();
  }

  void start() {
    finish();
    at_.emplace(loader_->begin());
    isFirst_ = true;
  }

  bool next(Batch& batch) {
    if (!at_) {
      return false;
    }
    if (!std::exchange(isFirst_, false)) {
      ++*at_;
    }
    if (*at_ == loader_->end()) {
      at_.reset();
      return false;
    }
    batch = toBatch(std::move(**at_));
    return true;
  }

 private:
  using Iterator = decltype(std::declval<Loader&>().begin());

  std::shared_ptr<Loader> loader_;
  std::optional<Iterator> at_;
  bool isFirst_ = true;
};

/// The samples of a DistributedSampler, for a torch::data data loader. Copies share them.
class DealtSamples {
 public:
  using BatchRequestType = std::vector<std::size_t>;
  using OptionalRequest = decltype(std::declval<torch::data::samplers::Sampler<>&>().next(1));

  void set(const std::vector<std::int64_t>& indices, std::int64_t first) {
    state_->indices.assign(indices.begin(), indices.end());
    state_->position = static_cast<std::size_t>(first);
  }

  // Called by the data loader.
  void reset() {}
  OptionalRequest next(std::size_t batchSize) {
    const std::size_t count = std::min(batchSize, state_->indices.size() - state_->position);
    if (count == 0) {
      return {};
    }
    const auto from = state_->indices.begin() + static_cast<std::ptrdiff_t>(state_->position);
    state_->position += count;
    return BatchRequestType(from, from + static_cast<std::ptrdiff_t>(count));
  }

 private:
  struct State {
    std::vector<std::size_t> indices;
    std::size_t position = 0;
  };

  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace detail::train

/// Loads batches of a torch::data data set in the order of a DistributedSampler.
///
///     auto dataset = torch::data::datasets::MNIST(folder).map(torch::data::transforms::Stack<>());
///     steptape::DistributedSampler sampler(60000, *world);
///     steptape::DatasetLoader train(
///         dataset, sampler, torch::data::DataLoaderOptions().batch_size(64).workers(2));
///     trainer.fit(train, test);
///
/// The sampler decides which samples this rank takes, and a run resumes at any step on any number
/// of ranks, as with ImageLoader. The workers are those of a torch::data data loader.
///
/// @tparam Dataset Must have random access. Its batches are torch::data::Example<>, or vectors of
///         them, which are stacked.
template <typename Dataset>
class DatasetLoader final : public BatchLoader {
 public:
  /// Keeps a copy of `dataset` for each worker.
  ///
  /// @param dataset The data set.
  /// @param sampler Selects this rank's samples.
  /// @param options The batch size on this rank, or all of LibTorch's options.
  /// @throws Error(kInvalidArgument) if the batch size is 0, or the sampler was made for more
  ///         samples than the data set has.
  DatasetLoader(Dataset dataset, DistributedSampler sampler, torch::data::DataLoaderOptions options)
      : sampler_(std::move(sampler)),
        pass_(makeLoader(std::move(dataset), sampler_.datasetSize(), samples_, options)) {}

  std::int64_t batches() const override { return batchesOf(sampler_.epochSize()); }
  std::uint64_t seed() const override { return sampler_.options().seed; }
  void startEpoch(std::int64_t epoch, std::int64_t skippedBatches = 0) override {
    sampler_.setEpoch(epoch);
    startAt(std::min(skippedBatches * batchSize(), sampler_.size()));
  }
  std::int64_t samplesDone() const override { return sampler_.position(used_).samplesDone; }
  std::int64_t resumeEpoch(std::int64_t epoch, std::int64_t samplesDone) override {
    sampler_.resume({epoch, samplesDone});
    startAt(0);
    return batchesOf(sampler_.size());
  }
  bool next(Batch& batch) override {
    if (!pass_.next(batch)) {
      return false;
    }
    used_ = std::min(used_ + batchSize(), sampler_.size());
    return true;
  }

 private:
  using Loader = torch::data::StatelessDataLoader<Dataset, detail::train::DealtSamples>;

  static std::shared_ptr<Loader> makeLoader(Dataset dataset, std::int64_t dealt,
                                            const detail::train::DealtSamples& samples,
                                            const torch::data::DataLoaderOptions& options) {
    if (options.batch_size() == 0) {
      throw Error(ErrorCode::kInvalidArgument,
                  "DatasetLoader got a batch size of 0; expected at least 1");
    }
    const auto size = dataset.size();
    if (size && dealt > static_cast<std::int64_t>(*size)) {
      throw Error(ErrorCode::kInvalidArgument,
                  "DatasetLoader got a sampler of " + std::to_string(dealt) +
                      " samples; expected at most the data set's " + std::to_string(*size));
    }
    return torch::data::make_data_loader(std::move(dataset), samples, options);
  }

  std::int64_t batchSize() const {
    return static_cast<std::int64_t>(pass_.loader().options().batch_size);
  }
  std::int64_t batchesOf(std::int64_t samples) const {
    const bool dropLast = pass_.loader().options().drop_last;
    return (samples + (dropLast ? 0 : batchSize() - 1)) / batchSize();
  }

  void startAt(std::int64_t first) {
    samples_.set({}, 0);  // Workers skip batches that they have not started.
    pass_.finish();
    samples_.set(sampler_.indices(), first);
    used_ = first;
    pass_.start();
  }

  DistributedSampler sampler_;
  detail::train::DealtSamples samples_;
  detail::train::TorchLoaderPass<Loader> pass_;
  std::int64_t used_ = 0;  ///< Index into the sampler's indices.
};

/// Facts about a torch::data data loader that it does not report itself.
struct TorchLoaderOptions {
  /// Batches per epoch on this rank; unset: unknown. BatchLoader::batches() says what requires it.
  std::optional<std::int64_t> batches = std::nullopt;
};

/// Gives the batches of a torch::data data loader in the order of its own sampler.
///
///     auto train = torch::data::make_data_loader(dataset, sampler, 64);
///     trainer.fit(*train, *test);  // directly, or with its length:
///     steptape::TorchLoaderOptions options;
///     options.batches = 938;
///     steptape::TorchLoader batches(std::move(train), options);
///     trainer.fit(batches, *test);
///
/// On several ranks the sampler must give each rank its own samples, as
/// torch::data::samplers::DistributedRandomSampler does with this rank and size. A data loader does
/// not pass the epoch to its sampler: DistributedRandomSampler repeats one order in every epoch.
///
/// A run that resumes in the middle of an epoch reads and discards the batches that were done. It
/// continues with the same batches only if the sampler repeats its order, which RandomSampler does
/// not. DatasetLoader has none of these limits.
template <typename Loader, typename = detail::train::RequiresTorchLoader<Loader>>
class TorchLoader final : public BatchLoader {
 public:
  explicit TorchLoader(std::shared_ptr<Loader> loader, TorchLoaderOptions options = {})
      : pass_(std::move(loader)), options_(options) {}
  explicit TorchLoader(std::unique_ptr<Loader> loader, TorchLoaderOptions options = {})
      : TorchLoader(std::shared_ptr<Loader>(std::move(loader)), options) {}
  /// Does not own `loader`, which must outlive this object.
  explicit TorchLoader(Loader& loader, TorchLoaderOptions options = {})
      : TorchLoader(std::shared_ptr<Loader>(std::shared_ptr<void>(), &loader), options) {}

  std::int64_t batches() const override { return options_.batches.value_or(kUnknownBatches); }
  /// Returns 0: the sampler decides the order.
  std::uint64_t seed() const override { return 0; }
  void startEpoch(std::int64_t /*epoch*/, std::int64_t skippedBatches = 0) override {
    pass_.start();
    Batch skipped;
    for (std::int64_t i = 0; i < skippedBatches; ++i) {
      pass_.next(skipped);
    }
  }
  bool next(Batch& batch) override { return pass_.next(batch); }

 private:
  detail::train::TorchLoaderPass<Loader> pass_;
  TorchLoaderOptions options_;
};

/// Lets Trainer::fit() take a torch::data data loader, as TorchLoader.
template <typename Loader>
struct BatchLoaderTraits<Loader, detail::train::RequiresTorchLoader<Loader>> {
  static std::unique_ptr<BatchLoader> adapt(Loader& loader) {
    return std::make_unique<TorchLoader<Loader>>(loader);
  }
};

/// Lets Trainer::fit() take the result of torch::data::make_data_loader().
template <typename Loader>
struct BatchLoaderTraits<std::unique_ptr<Loader>, detail::train::RequiresTorchLoader<Loader>> {
  static std::unique_ptr<BatchLoader> adapt(const std::unique_ptr<Loader>& loader) {
    return std::make_unique<TorchLoader<Loader>>(*loader);
  }
};

}  // namespace steptape
