// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "steptape/base/status.h"
#include "steptape/profile/profiler.h"

namespace steptape {

ProfilerAction ProfilerSchedule::actionAt(std::int64_t step) const noexcept {
  if (step < skipFirst) {
    return ProfilerAction::kNone;
  }
  std::int64_t inCycle = step - skipFirst;
  if (active > 0) {
    const std::int64_t cycle = wait + warmup + active;
    if (repeat > 0 && inCycle / cycle >= repeat) {
      return ProfilerAction::kNone;
    }
    inCycle %= cycle;
  }
  if (inCycle < wait) {
    return ProfilerAction::kNone;
  }
  if (inCycle < wait + warmup) {
    return ProfilerAction::kWarmup;
  }
  const bool isLast = active > 0 && inCycle == wait + warmup + active - 1;
  return isLast ? ProfilerAction::kRecordAndSave : ProfilerAction::kRecord;
}

bool ProfilerSchedule::isOverAt(std::int64_t step) const noexcept {
  const std::int64_t cycle = wait + warmup + active;
  return active > 0 && repeat > 0 && step >= skipFirst && (step - skipFirst) / cycle >= repeat;
}

void ProfilerSchedule::check() const {
  const std::pair<const char*, std::int64_t> fields[] = {{"skipFirst", skipFirst},
                                                         {"wait", wait},
                                                         {"warmup", warmup},
                                                         {"active", active},
                                                         {"repeat", repeat}};
  for (const auto& [name, value] : fields) {
    if (value < 0) {
      throw Error(ErrorCode::kInvalidArgument, std::string("ProfilerSchedule::") + name + ": got " +
                                                   std::to_string(value) + "; expected 0 or more");
    }
  }
}

}  // namespace steptape
