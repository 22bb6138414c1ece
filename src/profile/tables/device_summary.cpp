// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "steptape/profile/trace_summary.h"

#include "base/text.h"
#include "profile/tables/step_parts.h"
#include "profile/tables/time_intervals.h"
#include "profile/trace/thread_time.h"

namespace steptape {
namespace {

constexpr const char* kNoLauncher = "(no operator)";

using detail::profile::TimeInterval;

enum class WorkKind { kKernel, kCopy, kCollective };

WorkKind workKindOf(const TraceName& name) {
  const std::string& text = name.text;
  if (detail::profile::isCollectiveOfDevice(name)) {
    return WorkKind::kCollective;
  }
  const bool isCopy =
      detail::base::startsWith(text, "Memcpy") || detail::base::startsWith(text, "Memset");
  return isCopy ? WorkKind::kCopy : WorkKind::kKernel;
}

std::int64_t lengthOf(const std::vector<TimeInterval>& united) {
  std::int64_t sum = 0;
  for (const auto& [start, end] : united) {
    sum += end - start;
  }
  return sum;
}

std::int64_t commonLength(const std::vector<TimeInterval>& a, const std::vector<TimeInterval>& b) {
  detail::profile::CommonTime common(b);
  std::int64_t sum = 0;
  for (const TimeInterval& each : a) {
    sum += common.with(each);
  }
  return sum;
}

/// Names the innermost span around each call of the runtime library.
class Launchers {
 public:
  explicit Launchers(const Trace& trace) : trace_(trace) {
    for (const TraceLink& link : linkLaunches(trace)) {
      calls_[{link.toThread, link.toSpan}] = {link.fromThread, link.fromSpan};
    }
    around_.resize(trace.threads.size());
    for (const auto& [work, call] : calls_) {
      if (around_[call.first].empty()) {
        findAround(call.first);
      }
    }
  }

  bool hasAny() const { return !calls_.empty(); }

  std::string of(std::size_t thread, std::size_t span) const {
    const auto call = calls_.find({thread, span});
    if (call == calls_.end()) {
      return kNoLauncher;
    }
    const auto& [callThread, callSpan] = call->second;
    const std::size_t outer = around_[callThread][callSpan];
    return outer == kNone ? kNoLauncher
                          : trace_.names[trace_.threads[callThread].spans[outer].name].text;
  }

 private:
  using Place = std::pair<std::size_t, std::size_t>;  // thread and span
  static constexpr std::size_t kNone = ~std::size_t{0};

  /// Finds, for each span of a thread, the innermost other span around it that is no call.
  void findAround(std::size_t thread) {
    const std::vector<TraceSpan>& spans = trace_.threads[thread].spans;
    std::vector<std::size_t>& around = around_[thread];
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < spans.size(); ++i) {
      while (!open.empty() &&
             spans[open.back()].start + spans[open.back()].duration <= spans[i].start) {
        open.pop_back();
      }
      around.push_back(open.empty() ? kNone : open.back());
      if (detail::profile::takesTimeOfThread(spans[i]) &&
          trace_.names[spans[i].name].kind != SpanKind::kRuntime) {
        open.push_back(i);
      }
    }
  }

  const Trace& trace_;
  std::map<Place, Place> calls_;                  // by their work
  std::vector<std::vector<std::size_t>> around_;  // by thread and span
};

/// Collects the work of one device.
class DeviceTally {
 public:
  void add(const TraceSpan& span, WorkKind kind, std::int64_t window, const std::string& launcher) {
    const TimeInterval interval(std::max<std::int64_t>(span.start, 0),
                                std::min(span.start + span.duration, window));
    if (interval.first >= interval.second) {
      return;
    }
    byKind_[kind].push_back(interval);
    all_.push_back(interval);
    if (!launcher.empty()) {
      LaunchSummary& summary = launchers_[launcher];
      summary.name = launcher;
      ++summary.count;
      summary.busy += interval.second - interval.first;
    }
  }

  DeviceSummary build(int device, std::int64_t window) && {
    for (auto& [kind, intervals] : byKind_) {
      detail::profile::unite(&intervals);
    }
    detail::profile::unite(&all_);
    DeviceSummary summary;
    summary.device = device;
    summary.window = window;
    summary.busy = lengthOf(all_);
    summary.kernels = lengthOf(byKind_[WorkKind::kKernel]);
    summary.copies = lengthOf(byKind_[WorkKind::kCopy]);
    summary.transfer = lengthOf(byKind_[WorkKind::kCollective]);
    summary.overlap = commonLength(byKind_[WorkKind::kCollective], byKind_[WorkKind::kKernel]);
    for (auto& [name, launcher] : launchers_) {
      summary.launchers.push_back(std::move(launcher));
    }
    std::stable_sort(summary.launchers.begin(), summary.launchers.end(),
                     [](const auto& a, const auto& b) { return a.busy > b.busy; });
    return summary;
  }

 private:
  std::map<WorkKind, std::vector<TimeInterval>> byKind_;
  std::vector<TimeInterval> all_;
  std::map<std::string, LaunchSummary> launchers_;
};

}  // namespace

std::vector<DeviceSummary> summarizeDevices(const Trace& trace) {
  const Launchers launchers(trace);
  std::map<int, DeviceTally> devices;
  for (std::size_t thread = 0; thread < trace.threads.size(); ++thread) {
    const TraceThread& row = trace.threads[thread];
    for (std::size_t i = 0; row.device >= 0 && i < row.spans.size(); ++i) {
      const TraceName& name = trace.names[row.spans[i].name];
      const bool isAnnotation = name.category == "gpu_user_annotation";
      if (name.kind == SpanKind::kDevice && !isAnnotation) {
        devices[row.device].add(row.spans[i], workKindOf(name), trace.duration,
                                launchers.hasAny() ? launchers.of(thread, i) : "");
      }
    }
  }
  std::vector<DeviceSummary> summaries;
  summaries.reserve(devices.size());
  for (auto& [device, tally] : devices) {
    summaries.push_back(std::move(tally).build(device, trace.duration));
  }
  return summaries;
}

}  // namespace steptape
