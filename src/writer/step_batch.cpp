// SPDX-License-Identifier: Apache-2.0
#include "steptape/writer/step_batch.h"

#include "steptape/base/clock.h"

#include "writer/writer_core.h"

namespace steptape {

StepBatch::StepBatch(WriterCore* core, std::int64_t step)
    : core_(core), step_(step), ticks_(readTicks()), wallTime_(core->callerWallTime()) {}

StepBatch::~StepBatch() {
  handOver();
}

void StepBatch::add(std::string_view tag, double value) {
  add(series(tag), value);
}

std::uint32_t StepBatch::series(std::string_view tag) const {
  return core_->series(tag);
}

void StepBatch::addInFlight(std::uint32_t series, TensorView value) {
  handOver();  // what was added before comes first
  std::optional<double> wallTime;
  if (wallTime_ != RingEntry::kNoWallTime) {
    wallTime = RingEntry::wallSeconds(wallTime_);
  }
  core_->addScalarInFlight(series, std::move(value), step_, wallTime);
}

void StepBatch::handOver() {
  static_assert(kMaxScalars == ScalarRing::kMaxBatch);
  if (size_ > 0) {
    core_->addBatch(step_, ticks_, wallTime_, scalars_, size_);
    size_ = 0;
  }
}

}  // namespace steptape
