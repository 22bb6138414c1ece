// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <utility>

#include "steptape/base/clock.h"
#include "steptape/log/scalar.h"

#include "log/writer/run_client.h"

namespace steptape {

StepBatch::StepBatch(detail::log::RunClient* client, std::int64_t step)
    : client_(client), step_(step), ticks_(readTicks()), wallTime_(client->batchWallTime()) {}

StepBatch::~StepBatch() {
  handOver();
}

void StepBatch::add(std::string_view tag, double value) {
  add(series(tag), value);
}

std::uint32_t StepBatch::series(std::string_view tag) const {
  return client_->series().of(tag);
}

void StepBatch::addInFlight(std::uint32_t series, TensorView value) {
  handOver();  // keeps the order
  std::optional<double> wallTime;
  if (wallTime_ != detail::log::RingEntry::kNoWallTime) {
    wallTime = detail::log::RingEntry::wallSeconds(wallTime_);
  }
  client_->addScalarInFlight(series, std::move(value), step_, wallTime);
}

void StepBatch::handOver() noexcept {
  static_assert(kMaxScalars == detail::log::ScalarRing::kMaxBatch);
  if (size_ == 0) {
    return;
  }
  const std::size_t count = std::exchange(size_, 0);
  try {
    client_->addBatch(step_, ticks_, wallTime_, scalars_, count);
  } catch (const std::exception& error) {
    client_->context().losses().countLost(error, count, 0);
  }
}

}  // namespace steptape
