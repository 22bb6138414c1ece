// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <utility>

#include "steptape/base/clock.h"
#include "steptape/log/scalar.h"

#include "log/writer/writer_core.h"

namespace steptape {

StepBatch::StepBatch(detail::log::WriterCore* core, std::int64_t step)
    : core_(core), step_(step), ticks_(readTicks()), wallTime_(core->batchWallTime()) {}

StepBatch::~StepBatch() {
  handOver();
}

void StepBatch::add(std::string_view tag, double value) {
  add(series(tag), value);
}

std::uint32_t StepBatch::series(std::string_view tag) const {
  return core_->series().of(tag);
}

void StepBatch::addInFlight(std::uint32_t series, TensorView value) {
  handOver();  // keeps the order
  std::optional<double> wallTime;
  if (wallTime_ != detail::log::RingEntry::kNoWallTime) {
    wallTime = detail::log::RingEntry::wallSeconds(wallTime_);
  }
  core_->addScalarInFlight(series, std::move(value), step_, wallTime);
}

void StepBatch::handOver() noexcept {
  static_assert(kMaxScalars == detail::log::ScalarRing::kMaxBatch);
  if (size_ == 0) {
    return;
  }
  const std::size_t count = std::exchange(size_, 0);
  try {
    core_->addBatch(step_, ticks_, wallTime_, scalars_, count);
  } catch (const std::exception& error) {
    core_->context().losses().countLost(error, count, 0);
  }
}

}  // namespace steptape
