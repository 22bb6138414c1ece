// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "steptape/base/status.h"
#include "steptape/process/zone.h"
#include "steptape/train/batch_loader.h"

#include "base/got_expected.h"
#include "train/data/batch_count.h"
#include "train/samples/sample_workers.h"

#include <ATen/ops/empty.h>

namespace steptape {
namespace {

void checkAtLeast(std::int64_t least, const char* name, std::int64_t value) {
  if (value < least) {
    detail::base::reject(std::string(name) + " " + std::to_string(value),
                         "at least " + std::to_string(least), "PrefetchLoader");
  }
}

std::string sampleText(std::int64_t sample, std::int64_t epoch) {
  return "PrefetchLoader: sample " + std::to_string(sample) + " in epoch " + std::to_string(epoch) +
         ": ";
}

}  // namespace

PrefetchLoader::PrefetchLoader(std::shared_ptr<const SampleSource> source,
                               DistributedSampler sampler, std::int64_t batchSize,
                               const PrefetchLoaderOptions& options)
    : source_(std::move(source)),
      sampler_(std::move(sampler)),
      batchSize_(batchSize),
      options_(options),
      shape_(source_->shape()) {
  checkAtLeast(1, "batch size", batchSize);
  checkAtLeast(1, "PrefetchLoaderOptions::prefetch", options.prefetch);
  checkAtLeast(0, "PrefetchLoaderOptions::workers", options.workers);
  if (sampler_.datasetSize() > source_->size()) {
    detail::base::reject("a sampler of " + std::to_string(sampler_.datasetSize()) + " samples",
                         "at most the source's " + std::to_string(source_->size()),
                         "PrefetchLoader");
  }
  workers_ = std::make_unique<detail::train::SampleWorkers>(options.workers);
}

PrefetchLoader::~PrefetchLoader() = default;

std::int64_t PrefetchLoader::batchesOf(std::int64_t samples) const {
  return options_.dropLast ? samples / batchSize_ : detail::train::batchCount(samples, batchSize_);
}

std::int64_t PrefetchLoader::batches() const {
  return batchesOf(sampler_.epochSize());
}

void PrefetchLoader::startEpoch(std::int64_t epoch, std::int64_t skippedBatches) {
  workers_->stop();  // They use the sampler.
  sampler_.setEpoch(epoch);
  readFrom(std::min(skippedBatches * batchSize_, sampler_.size()));
}

std::int64_t PrefetchLoader::resumeEpoch(std::int64_t epoch, std::int64_t samplesDone) {
  workers_->stop();
  sampler_.resume({epoch, samplesDone});
  readFrom(0);
  return batchesOf(sampler_.size());
}

bool PrefetchLoader::next(Batch& batch) {
  STEPTAPE_INPUT_ZONE("next batch");
  if (slots_.empty()) {
    startEpoch(0);
  }
  const std::int64_t count = std::min(batchSize_, end_ - taken_);
  if (count == 0) {
    return false;
  }
  readAhead();  // Does nothing, unless memory was short at the end of the last call.
  workers_->waitFor(taken_ - first_ + count);
  batch = std::move(slot((taken_ - first_) / batchSize_));
  taken_ += count;
  readAhead();
  return true;
}

void PrefetchLoader::readFrom(std::int64_t first) {
  first_ = ahead_ = taken_ = first;
  end_ = std::min(first + batchesOf(sampler_.size() - first) * batchSize_, sampler_.size());
  slots_.assign(static_cast<std::size_t>(options_.prefetch), {});
  const std::int64_t epoch = sampler_.position(0).epoch;
  workers_->start([this, epoch](std::int64_t number) { read(epoch, number); });
  readAhead();
}

/// Lets the workers read as many batches as the options say.
void PrefetchLoader::readAhead() {
  while (ahead_ < end_ && ahead_ - taken_ < options_.prefetch * batchSize_) {
    addBatch();
  }
}

void PrefetchLoader::addBatch() {
  const std::int64_t count = std::min(batchSize_, end_ - ahead_);
  std::vector<std::int64_t> shape = shape_;
  shape.insert(shape.begin(), count);
  const auto pinned = at::TensorOptions().pinned_memory(options_.pinMemory);
  slot((ahead_ - first_) / batchSize_) = {at::empty(shape, pinned.dtype(at::kFloat)),
                                          at::empty({count}, pinned.dtype(at::kLong))};
  ahead_ += count;
  workers_->allow(ahead_ - first_);
}

Batch& PrefetchLoader::slot(std::int64_t number) {
  return slots_[static_cast<std::size_t>(number % options_.prefetch)];
}

/// Reads a sample, counted from `first_`, into its place in its batch. Runs on the workers.
void PrefetchLoader::read(std::int64_t epoch, std::int64_t number) {
  const std::int64_t sample = sampler_.indices()[static_cast<std::size_t>(first_ + number)];
  const Batch& batch = slot(number / batchSize_);
  const std::int64_t place = number % batchSize_;
  const std::int64_t floats = batch.inputs.numel() / batch.size();
  SampleRandom random(seed(), epoch, sample);
  try {
    batch.targets.data_ptr<std::int64_t>()[place] =
        source_->read(sample, random, batch.inputs.data_ptr<float>() + place * floats);
  } catch (const Error& error) {
    throw Error(error.code(), sampleText(sample, epoch) + error.what());
  }
}

}  // namespace steptape
