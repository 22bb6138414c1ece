// SPDX-License-Identifier: Apache-2.0
#include "train/loop/step_input.h"

#include <algorithm>
#include <string>
#include <utility>

#include "steptape/base/status.h"

namespace steptape::detail::train {

void StepInput::startEpoch(const TrainingProgress& progress) {
  readsAhead_ = false;
  ahead_.clear();
  batchesDone_ = progress.stepInEpoch * batchesPerStep_;
  if (progress.stepInEpoch > 0 && progress.samplesDone >= 0) {
    batchesLeft_ = train_.resumeEpoch(progress.epoch, progress.samplesDone);
  } else {
    train_.startEpoch(progress.epoch, batchesDone_);
    const std::int64_t batches = train_.batches();
    batchesLeft_ = batches < 0 ? batches : std::max<std::int64_t>(0, batches - batchesDone_);
  }
  epochBatches_ = batchesDone_ + batchesLeft_ / batchesPerStep_ * batchesPerStep_;
}

void StepInput::readAhead() {
  readsAhead_ = true;
  Batch batch;
  while (static_cast<std::int64_t>(ahead_.size()) < batchesPerStep_ && train_.next(batch)) {
    ahead_.push_back(std::move(batch));
  }
}

bool StepInput::hasStep() const {
  return readsAhead_ ? static_cast<std::int64_t>(ahead_.size()) == batchesPerStep_
                     : batchesDone_ < epochBatches_;
}

void StepInput::next(Batch& batch) {
  if (!ahead_.empty()) {
    batch = std::move(ahead_.front());
    ahead_.pop_front();
  } else if (!train_.next(batch)) {
    throw Error(ErrorCode::kFailedPrecondition,
                "Trainer: the training data ended after " + std::to_string(batchesDone_) +
                    " batches of the epoch; expected " + std::to_string(epochBatches_) +
                    ", as BatchLoader::batches() returned");
  }
  ++batchesDone_;
}

}  // namespace steptape::detail::train
