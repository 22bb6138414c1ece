// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "steptape/profile/trace_summary.h"

#include "base/text.h"
#include "profile/tables/step_parts.h"
#include "profile/tables/time_intervals.h"
#include "profile/trace/thread_time.h"

namespace steptape {
namespace {

using detail::profile::CommonTime;
using detail::profile::OpenSpan;
using detail::profile::StepPart;
using detail::profile::TimeInterval;

/// What the names of a trace say.
struct StepNames {
  explicit StepNames(const Trace& trace) : parts(detail::profile::ownPartsOf(trace.names)) {
    for (const TraceName& name : trace.names) {
      hasWaits = hasWaits || name.kind == SpanKind::kWait;
      waitsForDevice.push_back(isWaitForDevice(name));
    }
  }

  std::vector<StepPart> parts;
  std::vector<bool> waitsForDevice;
  bool hasWaits = false;  ///< Whether the trace states when a thread waits for other ranks.

 private:
  /// Calls such as cudaStreamSynchronize, and copies, which may wait for their stream.
  static bool isWaitForDevice(const TraceName& name) {
    const std::string& text = name.text;
    return name.kind == SpanKind::kRuntime && (text.find("Synchronize") != std::string::npos ||
                                               detail::base::startsWith(text, "cudaMemcpy") ||
                                               detail::base::startsWith(text, "hipMemcpy") ||
                                               detail::base::startsWith(text, "cuMemcpy"));
  }
};

/// Returns when collectives run on other threads of the host than `thread`.
std::vector<TimeInterval> collectivesBeside(const Trace& trace, std::size_t thread) {
  std::vector<TimeInterval> intervals;
  for (std::size_t other = 0; other < trace.threads.size(); ++other) {
    if (other == thread || trace.threads[other].device >= 0) {
      continue;
    }
    for (const TraceSpan& span : trace.threads[other].spans) {
      if (trace.names[span.name].kind == SpanKind::kCollective &&
          detail::profile::takesTimeOfThread(span)) {
        intervals.emplace_back(span.start, detail::profile::endOf(span));
      }
    }
  }
  detail::profile::unite(&intervals);
  return intervals;
}

/// Returns when the devices run collectives and nothing else.
std::vector<TimeInterval> collectivesOfDevices(const Trace& trace) {
  std::vector<bool> isCollective;
  for (const TraceName& name : trace.names) {
    isCollective.push_back(name.kind == SpanKind::kDevice &&
                           detail::profile::isCollectiveOfDevice(name));
  }
  std::vector<TimeInterval> collectives;
  std::vector<TimeInterval> others;
  for (const TraceThread& stream : trace.threads) {
    if (stream.device < 0) {
      continue;
    }
    for (const TraceSpan& span : stream.spans) {
      if (trace.names[span.name].category != "gpu_user_annotation") {
        (isCollective[span.name] ? collectives : others)
            .emplace_back(span.start, detail::profile::endOf(span));
      }
    }
  }
  detail::profile::unite(&collectives);
  detail::profile::unite(&others);
  return detail::profile::without(collectives, others);
}

/// Divides the steps of one thread among their parts.
class StepTally : public detail::profile::ThreadVisitor {
 public:
  /// @param hostCollectives   When the thread waits if it runs no operator.
  /// @param deviceCollectives When the thread waits if it waits for a device.
  StepTally(const Trace& trace, const StepNames& names, std::size_t thread,
            const std::vector<TimeInterval>& hostCollectives,
            const std::vector<TimeInterval>& deviceCollectives, std::vector<StepSummary>* summaries)
      : trace_(trace),
        names_(names),
        spans_(trace.threads[thread].spans),
        hostCollectives_(hostCollectives),
        deviceCollectives_(deviceCollectives) {
    CommonTime collectives(hostCollectives);
    for (std::size_t i = 0; i < trace.steps.size(); ++i) {
      const TraceStep& step = trace.steps[i];
      if (step.thread != thread) {
        continue;
      }
      // Steps of other profilers may overlap; the later one has the time.
      if (!steps_.empty()) {
        steps_.back().time.second = std::min(steps_.back().time.second, step.start);
      }
      steps_.push_back({{step.start, step.start + step.duration}, &(*summaries)[i]});
    }
    for (const Step& step : steps_) {
      step.summary->transfer += collectives.with(step.time);
    }
  }

  void begin(std::size_t i, const std::vector<OpenSpan>& around) {
    if (!detail::profile::takesTimeOfThread(spans_[i])) {
      return;
    }
    isInOperator_.resize(around.size());
    isInOperator_.push_back((!isInOperator_.empty() && isInOperator_.back()) ||
                            kindOf(i) == SpanKind::kOperator);
    if (const StepPart own = names_.parts[spans_[i].name]) {
      scopes_.push_back({detail::profile::endOf(spans_[i]), own});
    }
  }

  void pass(std::int64_t from, std::int64_t to, const std::vector<OpenSpan>& open) {
    while (from < to) {
      while (!scopes_.empty() && scopes_.back().end <= from) {
        scopes_.pop_back();
      }
      const std::int64_t until = scopes_.empty() ? to : std::min(to, scopes_.back().end);
      passInScope(from, until, open.back().index, isInOperator_[open.size() - 1]);
      from = until;
    }
  }

 private:
  struct Step {
    TimeInterval time;
    StepSummary* summary;
  };
  /// A span that has a part of its own.
  struct Scope {
    std::int64_t end;
    StepPart part;
  };

  SpanKind kindOf(std::size_t i) const { return trace_.names[spans_[i].name].kind; }

  void passInScope(std::int64_t from, std::int64_t to, std::size_t i, bool isInOperator) {
    while (next_ < steps_.size() && steps_[next_].time.second <= from) {
      ++next_;
    }
    for (std::size_t step = next_; step < steps_.size() && steps_[step].time.first < to; ++step) {
      add({std::max(from, steps_[step].time.first), std::min(to, steps_[step].time.second)}, i,
          isInOperator, steps_[step].summary);
    }
  }

  /// Adds time of a span itself to a step.
  void add(const TimeInterval& time, std::size_t i, bool isInOperator, StepSummary* step) {
    const SpanKind kind = kindOf(i);
    const bool isForward =
        kind == SpanKind::kOperator || (kind == SpanKind::kRuntime && isInOperator);
    const StepPart part = !scopes_.empty() ? scopes_.back().part
                          : isForward      ? &StepSummary::forward
                                           : &StepSummary::other;
    std::int64_t length = time.second - time.first;
    const std::int64_t besideCollective = hostCollectives_.with(time);
    const bool mayWait = (kind == SpanKind::kZone || kind == SpanKind::kUserScope) &&
                         (part == &StepSummary::other || part == &StepSummary::forward ||
                          part == &StepSummary::backward);
    if (mayWait) {
      length -= besideCollective;
    } else {
      step->transfer -= besideCollective;
    }
    if (names_.waitsForDevice[spans_[i].name]) {
      const std::int64_t waited = deviceCollectives_.with(time);
      length -= waited;
      step->transfer += waited;
    }
    step->*part += length;
  }

  const Trace& trace_;
  const StepNames& names_;
  const std::vector<TraceSpan>& spans_;
  CommonTime hostCollectives_;
  CommonTime deviceCollectives_;
  std::vector<Step> steps_;
  std::size_t next_ = 0;            // the first step that may not be over
  std::vector<bool> isInOperator_;  // of the open spans
  std::vector<Scope> scopes_;       // the last one is open, others may have ended
};

}  // namespace

std::vector<StepSummary> summarizeSteps(const Trace& trace) {
  std::vector<StepSummary> summaries;
  std::vector<bool> hasSteps(trace.threads.size(), false);
  for (const TraceStep& step : trace.steps) {
    StepSummary& summary = summaries.emplace_back();
    summary.number = step.number;
    summary.total = step.duration;
    hasSteps[step.thread] = true;
  }
  const StepNames names(trace);
  const std::vector<TimeInterval> ofDevices = collectivesOfDevices(trace);
  for (std::size_t thread = 0; thread < trace.threads.size(); ++thread) {
    if (!hasSteps[thread]) {
      continue;
    }
    const std::vector<TimeInterval> beside =
        names.hasWaits ? std::vector<TimeInterval>() : collectivesBeside(trace, thread);
    StepTally tally(trace, names, thread, beside, ofDevices, &summaries);
    detail::profile::visitThread(trace.threads[thread].spans, &tally);
  }
  for (StepSummary& step : summaries) {
    step.other = step.total - step.input - step.forward - step.backward - step.optimizer -
                 step.transfer - step.wait;
  }
  return summaries;
}

}  // namespace steptape
