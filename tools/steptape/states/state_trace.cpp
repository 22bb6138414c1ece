// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/states/state_trace.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "tools/steptape/tables/json_pieces.h"
#include "tools/steptape/tables/signal_name.h"

namespace steptape::tools {
namespace {

using steptape::detail::process::BoxHeader;
using steptape::detail::process::RankState;
using CollectivePhase = RankState::CollectivePhase;

constexpr const char* kNotEnded = "\"ended\": false";

const char* phaseNameOf(CollectivePhase phase) {
  switch (phase) {
    case CollectivePhase::kStarted:
      return "in flight";
    case CollectivePhase::kWaiting:
      return "waiting for ranks";
    case CollectivePhase::kTransfer:
      return "transfer";
    case CollectivePhase::kCompleted:
      return "completed";
    case CollectivePhase::kFailed:
      return "failed";
  }
  return "";
}

/// Joins the members of a JSON object.
std::string members(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// Makes the trace of one process. Its times are relative to `base`, in seconds since 1970.
class StateTraceBuilder {
 public:
  StateTraceBuilder(const RankView& rank, double base)
      : rank_(rank),
        state_(rank.state),
        base_(base),
        end_(std::max(rank.seen, lastSignOf(state_))) {}

  Trace build(const Verdict& verdict) {
    addFacts();
    addMarks(verdict);
    addSteps();
    addPhase();
    addCollectives();
    addThreads();
    for (TraceThread& row : trace_.threads) {
      nestSpans(&row.spans);
    }
    const auto isEmpty = [](const TraceThread& row) { return row.spans.empty(); };
    trace_.threads.erase(std::remove_if(trace_.threads.begin(), trace_.threads.end(), isEmpty),
                         trace_.threads.end());
    trace_.duration = nanosOf(end_);
    return std::move(trace_);
  }

 private:
  /// A damaged state may hold any number. The nanoseconds of 30 years fit.
  bool isTime(double time) const { return time > 0 && std::abs(rank_.jobTime(time) - base_) < 1e9; }

  std::int64_t nanosOf(double time) const {
    return isTime(time) ? std::llround((rank_.jobTime(time) - base_) * 1e9) : 0;
  }

  void addFacts() {
    const BoxHeader& process = state_.process;
    trace_.hostName = hostOf(rank_);
    trace_.processId = static_cast<std::int64_t>(process.pid);
    const std::string program = BoxHeader::textOf(process.program);
    trace_.processName = std::filesystem::path(program).filename().string();
    trace_.rank = std::max(state_.rank, 0);
    trace_.worldSize = std::max(state_.worldSize, 1);
    if (rank_.life == Life::kDead || rank_.life == Life::kStopped) {
      trace_.processName += rank_.life == Life::kDead ? ", dead" : ", stopped";
    }
    if (rank_.clockOffset != 0) {
      trace_.metadata.emplace_back("clock_offset_ms",
                                   fmt::format("{:.3f}", rank_.clockOffset * 1e3));
    }
  }

  /// Adds a row that is none of the operating system's threads.
  std::size_t addRow(const std::string& name) {
    // Linux has at most 2^22 thread numbers.
    constexpr std::uint64_t kFirstNumber = std::uint64_t{1} << 23;
    trace_.threads.push_back({kFirstNumber + trace_.threads.size(), name, -1, {}});
    return trace_.threads.size() - 1;
  }

  std::uint32_t numberOf(const std::string& text, SpanKind kind) {
    const auto [known, isNew] =
        names_.try_emplace({text, kind}, static_cast<std::uint32_t>(trace_.names.size()));
    if (isNew) {
      trace_.names.push_back({text, kind});
    }
    return known->second;
  }

  void addSpan(std::size_t row, const std::string& name, SpanKind kind, double start, double end,
               const SpanDetails& details = {}, std::uint8_t flags = 0) {
    if (!isTime(start) || !isTime(end) || end < start) {
      ++trace_.dropped;
      return;
    }
    TraceSpan span;
    span.start = nanosOf(start);
    span.duration = nanosOf(end) - span.start;
    span.name = numberOf(name, kind);
    span.flags = flags;
    if (details.bytes != 0 || !details.arguments.empty()) {
      span.details = static_cast<std::uint32_t>(trace_.details.size());
      trace_.details.push_back(details);
    }
    trace_.threads[row].spans.push_back(span);
  }

  void addOpenSpan(std::size_t row, const std::string& name, double start,
                   const std::string& arguments = kNotEnded) {
    SpanDetails details;
    details.arguments = arguments;
    addSpan(row, name, SpanKind::kZone, start, end_, details);
  }

  /// Viewers show a span without a duration as a mark.
  void addMarks(const Verdict& verdict) {
    const std::size_t row = addRow("marks");
    const auto addMark = [&](const std::string& text, double time) {
      addSpan(row, text, SpanKind::kZone, time, time);
    };
    const auto dead = std::find_if(verdict.dead.begin(), verdict.dead.end(),
                                   [&](const DeadRank& one) { return one.rank == &rank_; });
    bool isCauseSignal = false;
    bool isCauseTermination = false;
    if (dead != verdict.dead.end()) {
      const Cause::Kind kind = dead->cause.kind;
      // The process may have worked on for a while.
      constexpr double kAtOnce = 1;
      isCauseTermination = kind == Cause::Kind::kTerminated &&
                           dead->time - rank_.clockOffset - state_.termination.time < kAtOnce;
      isCauseSignal = kind == Cause::Kind::kException || kind == Cause::Kind::kFault ||
                      kind == Cause::Kind::kSentSignal;
      addMark(fmt::format("{} {}", nameOf(rank_), dead->cause.text),
              dead->time - rank_.clockOffset);
    }
    if (state_.death.signal != 0 && !isCauseSignal) {
      addMark(
          fmt::format("got {} from {}", signalName(state_.death.signal), senderOf(state_.death)),
          state_.death.time);
    }
    if (state_.termination.signal != 0 && !isCauseTermination) {
      addMark(fmt::format("got SIGTERM from {}", senderOf(state_.termination)),
              state_.termination.time);
    }
    const bool isErrorOfDeath =
        dead != verdict.dead.end() && dead->cause.kind == Cause::Kind::kException;
    if (!state_.lastError.empty() && state_.lastErrorTime > 0 && !isErrorOfDeath) {
      addMark("error: " + state_.lastError, state_.lastErrorTime);
    }
  }

  /// Only the number of the last step that was noted is kept. Between two notes may be many steps.
  void addSteps() {
    const std::size_t row = addRow("steps");
    const std::vector<double>& times = state_.stepTimes;
    for (std::size_t i = 1; i < times.size(); ++i) {
      addSpan(row, i + 1 == times.size() ? fmt::format("until step {}", state_.step) : "earlier",
              SpanKind::kZone, times[i - 1], times[i]);
    }
    if (state_.hasStep && state_.stepTime > 0) {
      addOpenSpan(row, fmt::format("after step {}", state_.step), state_.stepTime);
    }
  }

  void addPhase() {
    const std::string phase = runPhaseName(state_.phase);
    if (!phase.empty() && state_.phaseSince > 0) {
      addOpenSpan(addRow("phase"), phase, state_.phaseSince);
    }
  }

  void addCollectives() {
    std::map<std::uint64_t, std::size_t> rows;
    std::map<std::uint64_t, double> busyUntil;
    for (const RankState::Collective& collective : state_.collectives) {
      const RankState::Group* const group = groupOf(state_, collective.group);
      const std::string ranks = group == nullptr ? "" : group->name;
      const auto [known, isNew] = rows.try_emplace(collective.group, 0);
      if (isNew) {
        known->second = addRow("collectives" + (ranks.empty() ? "" : " of " + ranks));
      }
      const bool hasEnded = collective.phase == CollectivePhase::kCompleted ||
                            collective.phase == CollectivePhase::kFailed;
      const double end = hasEnded ? collective.since : end_;
      // One that starts while another is in flight is not a part of it.
      double& busy = busyUntil[collective.group];
      const std::uint8_t flags = collective.start < busy ? kDetached : 0;
      busy = std::max(busy, end);
      addSpan(known->second, collective.name, SpanKind::kCollective, collective.start, end,
              detailsOf(collective, ranks, hasEnded), flags);
      const bool hasTransfer = collective.phase == CollectivePhase::kTransfer;
      if (hasTransfer || collective.phase == CollectivePhase::kWaiting) {
        SpanDetails details;
        details.arguments = hasTransfer ? "" : kNotEnded;
        addSpan(known->second, "wait", SpanKind::kWait, collective.start,
                hasTransfer ? collective.since : end, details, flags);
      }
    }
  }

  static SpanDetails detailsOf(const RankState::Collective& collective, const std::string& ranks,
                               bool hasEnded) {
    std::vector<std::string> parts;
    if (!hasEnded) {
      parts.emplace_back(kNotEnded);
    }
    parts.push_back("\"sequence\": " + jsonInteger(collective.sequence));
    parts.push_back("\"phase\": " + jsonString(phaseNameOf(collective.phase)));
    parts.push_back("\"group\": " + jsonString(ranks));
    if (!collective.type.empty()) {
      parts.push_back("\"type\": " + jsonString(collective.type));
    }
    parts.push_back("\"thread\": " + jsonInteger(std::uint64_t{collective.thread}));
    if (collective.isUncertain) {
      parts.emplace_back("\"uncertain\": true");
    }
    SpanDetails details;
    details.bytes = collective.bytes;
    details.arguments = members(parts);
    return details;
  }

  void addThreads() {
    std::map<std::uint32_t, std::size_t> rows;
    for (const RankState::Thread& thread : state_.threads) {
      const auto [known, isNew] = rows.try_emplace(thread.tid, trace_.threads.size());
      if (isNew) {
        trace_.threads.push_back({thread.tid, thread.name, -1, {}});
      }
      for (std::size_t i = 0; i < thread.zones.size(); ++i) {
        std::vector<std::string> parts{kNotEnded};
        const bool isInnermost = i + 1 == thread.zones.size();
        if (isInnermost && !thread.operatorName.empty()) {
          parts.push_back("\"operator\": " + jsonString(thread.operatorName));
        }
        if (thread.isUncertain) {
          parts.emplace_back("\"uncertain\": true");
        }
        addOpenSpan(known->second, thread.zones[i].name, thread.zones[i].start, members(parts));
      }
      trace_.dropped += thread.depth - std::min<std::size_t>(thread.depth, thread.zones.size());
    }
    for (const RankState::CompletedZone& zone : state_.completed) {
      const auto known = rows.find(zone.thread);
      if (known != rows.end()) {
        addSpan(known->second, zone.name, SpanKind::kZone, zone.start, zone.end);
      }
    }
  }

  const RankView& rank_;
  const RankState& state_;
  const double base_;
  const double end_;
  std::map<std::pair<std::string, SpanKind>, std::uint32_t> names_;
  Trace trace_;
};

}  // namespace

std::vector<Trace> stateTraces(const Job& job, const Verdict& verdict) {
  const double lastSign = job.lastSign();
  const double base = lastSign > 0 && lastSign < 9e9 ? std::floor(lastSign) : 0;
  std::vector<Trace> traces;
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const RankView& rank : job.ranks) {
    traces.push_back(StateTraceBuilder(rank, base).build(verdict));
    first = std::min(first, traces.back().duration);
    for (const TraceThread& row : traces.back().threads) {
      first = std::min(first, row.spans.front().start);
    }
  }
  for (Trace& trace : traces) {
    trace.originNanos = static_cast<std::int64_t>(base) * 1'000'000'000 + first;
    trace.duration -= first;
    for (TraceThread& row : trace.threads) {
      for (TraceSpan& span : row.spans) {
        span.start -= first;
      }
    }
  }
  return traces;
}

}  // namespace steptape::tools
