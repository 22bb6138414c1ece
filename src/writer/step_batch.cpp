// SPDX-License-Identifier: Apache-2.0
#include "steptape/writer/step_batch.h"

#include "steptape/base/clock.h"

#include "writer/writer_core.h"

namespace steptape {

StepBatch::StepBatch(WriterCore* core, std::int64_t step)
    : core_(core), step_(step), ticks_(readTicks()), wallTime_(core->callerWallTime()) {}

StepBatch::~StepBatch() {
  WriterCore::publishBatch();
}

void StepBatch::add(ScalarTag tag, double value) {
  core_->addBatched(tag.id_, value, step_, ticks_, wallTime_);
}

void StepBatch::add(std::string_view tag, double value) {
  core_->addBatched(core_->series(tag), value, step_, ticks_, wallTime_);
}

}  // namespace steptape
