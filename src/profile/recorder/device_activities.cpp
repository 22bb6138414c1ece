// SPDX-License-Identifier: Apache-2.0
#include "profile/recorder/device_activities.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <pthread.h>
#include <string_view>
#include <tuple>
#include <utility>

#include "steptape/base/clock.h"

#include "base/json_text.h"
#include "base/thread_id.h"
#include "process/spans/recorder_registry.h"
#include "profile/trace/chrome/chrome_events.h"

namespace steptape::detail::profile {
namespace {

constexpr std::size_t kMaxKnownDetails = std::size_t{1} << 14;

/// The difference between two clocks beyond which the recorder's times cannot be Unix times.
constexpr double kMaxShiftNanos = 1e9;

/// Facts that a span has elsewhere: in its row, its correlation, its bytes or its duration.
bool isElsewhere(std::string_view key) {
  constexpr std::string_view kElsewhere[] = {
      "External id", "correlation", "device", "stream", "bytes", "memory bandwidth (GB/s)",
      "queued"};
  return std::find(std::begin(kElsewhere), std::end(kElsewhere), key) != std::end(kElsewhere);
}

/// Returns `facts` without the number that differs in every activity.
std::string withoutCorrelation(std::string facts) {
  constexpr std::string_view kKey = "\"correlation\":";
  if (const std::size_t begin = facts.find(kKey); begin != std::string::npos) {
    facts.erase(begin, facts.find(',', begin) - begin);
  }
  return facts;
}

bool isOfThisThread(const DeviceActivity& activity) {
  return activity.kind == DeviceActivityKind::kCall &&
         (activity.row == static_cast<std::uint32_t>(::pthread_self()) ||
          activity.row == base::threadId());
}

/// Corrects `clock` by this thread's calls, which lay between two readings of the ticks.
void alignByOwnCalls(const std::vector<DeviceActivity>& activities, std::uint64_t startTicks,
                     std::uint64_t endTicks, ActivityClock* clock) {
  constexpr std::string_view kName = "DeviceSynchronize";
  bool isKnown = false;
  std::int64_t start = 0;
  std::int64_t end = 0;
  for (const DeviceActivity& call : activities) {
    if (isOfThisThread(call) && call.name.find(kName) != std::string::npos) {
      start = isKnown ? std::min(start, call.startNanos) : call.startNanos;
      end = isKnown ? std::max(end, call.endNanos) : call.endNanos;
      isKnown = true;
    }
  }
  if (isKnown) {
    clock->align(start, end, startTicks, endTicks);
  }
}

}  // namespace

ActivityClock::Moment ActivityClock::now() {
  constexpr int kTries = 5;
  Moment best{};
  std::uint64_t shortest = ~std::uint64_t{0};
  for (int i = 0; i < kTries; ++i) {
    const std::uint64_t before = readTicks();
    const std::int64_t nanos = Clock::system().wallNanos();
    const std::uint64_t took = readTicks() - before;
    if (took < shortest) {
      shortest = took;
      best = {before + took / 2, nanos};
    }
  }
  return best;
}

ActivityClock::ActivityClock(Moment begin, Moment end)
    : begin_(begin), ticksPerNano_(1.0 / TickConverter::nanosPerTick()) {
  constexpr std::int64_t kShort = 1'000'000;  // the error of both readings would dominate
  if (end.nanos - begin.nanos > kShort && end.ticks > begin.ticks) {
    ticksPerNano_ =
        static_cast<double>(end.ticks - begin.ticks) / static_cast<double>(end.nanos - begin.nanos);
  }
}

std::uint64_t ActivityClock::ticksAt(std::int64_t nanos) const {
  const double ticks = static_cast<double>(nanos - begin_.nanos) * ticksPerNano_ + shift_;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(begin_.ticks) + std::llround(ticks));
}

void ActivityClock::align(std::int64_t startNanos, std::int64_t endNanos, std::uint64_t startTicks,
                          std::uint64_t endTicks) {
  const auto earliest =
      static_cast<double>(static_cast<std::int64_t>(startTicks - ticksAt(startNanos)));
  const auto latest = static_cast<double>(static_cast<std::int64_t>(endTicks - ticksAt(endNanos)));
  if (earliest <= latest && std::abs(earliest) < kMaxShiftNanos * ticksPerNano_) {
    shift_ += std::clamp(0.0, earliest, latest);
  }
}

/// A span, and when the host asked for it.
struct DeviceActivities::Entry {
  int device;
  std::uint64_t row;
  std::uint64_t launchTicks;
  SpanRecord record;
};

DeviceActivities::DeviceActivities(std::unique_ptr<ActivityRecorder> recorder)
    : recorder_(std::move(recorder)) {}

DeviceActivities::~DeviceActivities() {
  const base::MutexLock lock(mutex_);
  if (isRunning_) {
    std::vector<DeviceActivity> ignored;
    recorder_->stop(&ignored);
  }
}

bool DeviceActivities::start() {
  const base::MutexLock lock(mutex_);
  if (!isRunning_ && recordsSomething()) {
    restart();
  }
  if (isRunning_ && pausedSince_ != 0) {
    pauses_.push_back({std::exchange(pausedSince_, 0), readTicks()});
  }
  return isRunning_;
}

void DeviceActivities::pause() noexcept {
  const base::MutexLock lock(mutex_);
  if (isRunning_ && pausedSince_ == 0) {
    pausedSince_ = readTicks();
  }
}

bool DeviceActivities::recordsSomething() {
  if (std::exchange(isTested_, true)) {
    return true;
  }
  problem_ = recorder_->start();
  if (!problem_.empty()) {
    isTested_ = false;  // the reason may pass
    return false;
  }
  recorder_->synchronize();
  std::vector<DeviceActivity> activities;
  problem_ = recorder_->stop(&activities);
  if (problem_.empty() && activities.empty()) {
    problem_ =
        "kernels are not in the profile, because no call of the CUDA runtime was recorded; another "
        "tool, such as Nsight Systems, may use CUPTI. Devices are timed by operator instead";
  }
  isTested_ = problem_.empty();
  return problem_.empty();
}

void DeviceActivities::restart() {
  problem_ = recorder_->start();
  isRunning_ = problem_.empty();
  begin_ = ActivityClock::now();
  pausedSince_ = 0;
  pauses_.clear();
}

/// Stops the recorder, keeps its activities, and starts it again unless recording is paused. Waits
/// for the devices without a lock, so that start() and pause() do not wait.
void DeviceActivities::turnOver() {
  ActivityClock::Moment begin{};
  {
    const base::MutexLock lock(mutex_);
    if (!isRunning_) {
      return;
    }
    begin = begin_;
  }
  const std::uint64_t before = readTicks();
  recorder_->synchronize();
  const ActivityClock::Moment end = ActivityClock::now();
  std::vector<DeviceActivity> activities;
  const std::string problem = recorder_->stop(&activities);
  ActivityClock clock(begin, end);
  alignByOwnCalls(activities, before, end.ticks, &clock);
  // The calls of this method are not the program's.
  activities.erase(std::remove_if(activities.begin(), activities.end(),
                                  [&](const DeviceActivity& activity) {
                                    return isOfThisThread(activity) &&
                                           clock.ticksAt(activity.endNanos) > before;
                                  }),
                   activities.end());
  const base::MutexLock lock(mutex_);
  isRunning_ = false;
  if (!problem.empty()) {
    loss_ = problem;
  }
  keep(activities, clock);
  if (pausedSince_ == 0) {
    restart();
  }
}

bool DeviceActivities::isPaused(std::uint64_t ticks) const {
  return (pausedSince_ != 0 && ticks >= pausedSince_) ||
         std::any_of(pauses_.begin(), pauses_.end(), [ticks](const Interval& pause) {
           return ticks >= pause.from && ticks < pause.until;
         });
}

void DeviceActivities::keep(const std::vector<DeviceActivity>& activities,
                            const ActivityClock& clock) {
  std::unordered_map<std::uint32_t, std::uint64_t> launches;  // by correlation
  for (const DeviceActivity& activity : activities) {
    if (activity.kind == DeviceActivityKind::kCall && activity.correlation != 0) {
      launches.emplace(activity.correlation, clock.ticksAt(activity.startNanos));
    }
  }
  for (const DeviceActivity& activity : activities) {
    const bool isCall = activity.kind == DeviceActivityKind::kCall;
    const std::uint64_t start = clock.ticksAt(activity.startNanos);
    const auto launch = launches.find(activity.correlation);
    const std::uint64_t launched =
        isCall || launch == launches.end() ? start : std::min(launch->second, start);
    if (isPaused(launched)) {
      continue;
    }
    SpanRecord record{};
    record.startTicks = start;
    record.endTicks = std::max(start, clock.ticksAt(activity.endNanos));
    record.kind = isCall ? SpanKind::kRuntime : SpanKind::kDevice;
    record.nameId = internSpanName(record.kind, activity.name);
    // A call has been recorded apart from the spans around it. See TraceRecords.
    record.flags = isCall ? kDetached : 0;
    record.payload = SpanRecord::payloadOf(
        activity.correlation == 0 ? -1 : std::int64_t{activity.correlation}, detailsOf(activity));
    entries_.push_back({isCall ? -1 : activity.device, activity.row, launched, record});
  }
}

std::uint32_t DeviceActivities::detailsOf(const DeviceActivity& activity) {
  if (activity.facts.empty()) {
    return 0;
  }
  if (details_.size() > kMaxKnownDetails) {
    details_.clear();
  }
  const auto [known, isNew] = details_.try_emplace(withoutCorrelation(activity.facts), 0);
  if (isNew) {
    SpanDetails details;
    for (const auto& [key, value] : jsonMembers("{" + activity.facts + "}")) {
      if (key == "bytes") {
        details.bytes = value.integer().value_or(0);
      } else if (!isElsewhere(key)) {
        details.arguments +=
            (details.arguments.empty() ? "" : ", ") + base::jsonString(key) + ": " + value.json();
      }
    }
    known->second = details == SpanDetails() ? 0 : internSpanDetails(details);
  }
  return known->second;
}

void DeviceActivities::take(std::uint64_t since, std::uint64_t until,
                            const std::function<void(const process::SpanBatch&)>& sink) {
  turnOver();
  std::map<std::pair<int, std::uint64_t>, std::vector<SpanRecord>> rows;
  {
    const base::MutexLock lock(mutex_);
    const auto later =
        std::stable_partition(entries_.begin(), entries_.end(),
                              [until](const Entry& entry) { return entry.launchTicks > until; });
    for (auto entry = later; entry != entries_.end(); ++entry) {
      if (entry->launchTicks >= since) {
        const bool isCall = entry->device < 0;
        rows[{entry->device,
              isCall ? process::RecorderRegistry::instance().threadIdOf(entry->row) : entry->row}]
            .push_back(entry->record);
      }
    }
    entries_.erase(later, entries_.end());
  }
  for (auto& [row, records] : rows) {
    std::stable_sort(records.begin(), records.end(), [](const auto& a, const auto& b) {
      return std::tie(a.endTicks, b.startTicks) < std::tie(b.endTicks, a.startTicks);
    });
    sink({row.second,
          row.first < 0 ? process::RecorderRegistry::instance().nameOf(row.second) : "",
          {records.data(), records.size()},
          0,
          row.first});
  }
}

std::vector<std::string> DeviceActivities::problems() const {
  const base::MutexLock lock(mutex_);
  return {problem_, loss_};
}

}  // namespace steptape::detail::profile
