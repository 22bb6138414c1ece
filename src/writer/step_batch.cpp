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
  add(core_->series(tag), value);
}

void StepBatch::handOver() {
  static_assert(kMaxScalars == ScalarRing::kMaxBatch);
  if (size_ > 0) {
    core_->addBatch(step_, ticks_, wallTime_, scalars_, size_);
    size_ = 0;
  }
}

}  // namespace steptape
