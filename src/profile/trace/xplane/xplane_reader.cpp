// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "steptape/base/status.h"

#include "base/got_expected.h"
#include "base/gzip_file.h"
#include "base/json_text.h"
#include "base/text.h"
#include "base/whole_file.h"
#include "events/messages/xplane.h"
#include "profile/trace/chrome/json_check.h"
#include "profile/trace/known_names.h"
#include "profile/trace/thread_time.h"
#include "profile/trace/xplane/xplane_clock.h"
#include "profile/trace/xplane/xplane_trace.h"
#include "profile/trace/xplane/xprof_names.h"

namespace steptape {
namespace {

using detail::base::startsWith;

// Larger numbers are not times: the year 2100, and the limit of writeXPlane(). Smaller ones are not
// Unix times, but times since the start of the profile: the year 2000.
constexpr std::int64_t kMaxUnixNanos = 4'102'444'800'000'000'000;
constexpr std::int64_t kMinUnixNanos = 946'684'800'000'000'000;
constexpr std::int64_t kMaxPicos = detail::profile::kMaxXPlanePicos;
constexpr std::int64_t kMaxBytes = std::int64_t{1} << 60;

bool isIn(std::int64_t number, std::int64_t first, std::int64_t last) {
  return number >= first && number <= last;
}

/// Returns whether it is one of XProf's own lines; see xprof_names.h.
bool isDerivedLine(std::int64_t id) {
  return isIn(id, detail::profile::kFirstDerivedLineId, detail::profile::kLastDerivedLineId);
}

std::int64_t integerOf(const detail::events::XStatValue& value) {
  if (const auto* number = std::get_if<std::uint64_t>(&value)) {
    return static_cast<std::int64_t>(*number);
  }
  const auto* number = std::get_if<std::int64_t>(&value);
  return number != nullptr ? *number : 0;
}

double numberOf(const detail::events::XStatValue& value) {
  const auto* number = std::get_if<double>(&value);
  return number != nullptr ? *number : static_cast<double>(integerOf(value));
}

SpanKind kindNamed(std::string_view name, SpanKind otherwise) {
  for (std::size_t i = 0; i < kSpanKinds; ++i) {
    if (const auto kind = static_cast<SpanKind>(i); name == spanKindName(kind)) {
      return kind;
    }
  }
  return otherwise;
}

/// Returns the device of a plane such as "/device:GPU:0", or -1 for a host's plane.
int deviceOf(std::string_view plane) {
  if (!startsWith(plane, "/device:")) {
    return -1;
  }
  return std::atoi(std::string(plane.substr(plane.rfind(':') + 1)).c_str());
}

/// Numbers of a plane's stats that a Trace has a place for; -1 if the plane has none.
struct StatIds {
  explicit StatIds(const detail::events::XPlane& plane) {
    for (const auto& [id, name] : plane.statNames) {
      byName.emplace(name, id);
    }
  }
  std::int64_t of(const char* name) const {
    const auto found = byName.find(name);
    return found != byName.end() ? found->second : -1;
  }
  std::map<std::string, std::int64_t, std::less<>> byName;
};

/// References to threads whose position in the trace is not yet known.
struct Pending {
  struct Detached {
    int device;
    std::uint64_t thread;
    TraceSpan span;
    std::optional<std::int64_t> twinsAround;
  };
  std::vector<Detached> detached;
  std::vector<std::uint64_t> stepThreads;    // of each step
  std::vector<std::uint64_t> memoryThreads;  // of each memory event
};

class PlaneReader {
 public:
  /// @param base        The Unix time of the profile's start, for lines with such times.
  /// @param windowStart Start of the window relative to the profile's start, in nanoseconds.
  PlaneReader(const detail::events::XPlane& plane, std::int64_t base, std::int64_t windowStart,
              Trace* trace, Pending* pending)
      : plane_(plane),
        base_(base),
        windowStart_(windowStart),
        device_(deviceOf(plane.name)),
        trace_(*trace),
        pending_(*pending),
        ids_(plane) {}

  void read() {
    for (const detail::events::XLine& line : plane_.lines) {
      if (line.id == detail::profile::kMemoryLineId) {
        forEachEvent(line, [this](const detail::events::XEvent& event, std::int64_t start) {
          addMemory(event, start);
        });
      } else if (line.name == detail::profile::kCountersLine) {
        forEachEvent(line, [this](const detail::events::XEvent& event, std::int64_t start) {
          addCounter(event, start);
        });
      } else if (!isDerivedLine(line.id)) {
        addThread(line);
      }
    }
  }

 private:
  template <typename Take>
  void forEachEvent(const detail::events::XLine& line, const Take& take) {
    detail::events::XEvent event;
    for (const std::string_view bytes : line.events) {
      detail::events::decodeXEvent(bytes, &event).throwIfError();
      if (isIn(timeOf(line), 0, kMaxPicos / 1000) && isIn(event.offsetPicos, 0, kMaxPicos) &&
          isIn(event.durationPicos, 0, kMaxPicos)) {
        take(event, nanos(line, event.offsetPicos));
      } else {
        ++trace_.dropped;
      }
    }
  }

  /// XProf needs spans that end picoseconds earlier; rounding restores their end.
  std::int64_t nanos(const detail::events::XLine& line, std::int64_t picos) const {
    return timeOf(line) + (picos + 500) / 1000 - windowStart_;
  }

  /// Returns the time of a line since the start of the profile.
  std::int64_t timeOf(const detail::events::XLine& line) const {
    return line.timestampNanos < kMinUnixNanos ? line.timestampNanos : line.timestampNanos - base_;
  }

  static const detail::events::XStat* find(const std::vector<detail::events::XStat>& stats,
                                           std::int64_t id) {
    const auto found =
        std::find_if(stats.begin(), stats.end(),
                     [&](const detail::events::XStat& stat) { return stat.id == id; });
    return found != stats.end() ? &*found : nullptr;
  }
  std::optional<std::int64_t> integer(const detail::events::XEvent& event, std::int64_t id) const {
    const detail::events::XStat* const stat = find(event.stats, id);
    return stat != nullptr ? std::optional(integerOf(stat->value)) : std::nullopt;
  }
  std::string text(const std::vector<detail::events::XStat>& stats, std::int64_t id) const {
    const detail::events::XStat* const stat = find(stats, id);
    return stat != nullptr ? std::string(plane_.text(*stat)) : "";
  }

  void addThread(const detail::events::XLine& line) {
    TraceThread thread{static_cast<std::uint64_t>(line.id), line.name, device_, {}};
    bool hasOtherEvents = false;  // other than the thread's own
    forEachEvent(line, [&](const detail::events::XEvent& event, std::int64_t start) {
      const std::int64_t end = nanos(line, event.offsetPicos + event.durationPicos);
      if (addStep(event, start, end - start, line)) {
        hasOtherEvents = true;
        return;
      }
      TraceSpan span = spanOf(event);
      span.start = start;
      span.duration = end - start;
      if (const auto from = integer(event, detachedFrom_)) {
        hasOtherEvents = true;
        if (find(event.stats, overlap_) == nullptr) {
          span.flags |= kDetached;
        }
        pending_.detached.push_back(
            {device_, static_cast<std::uint64_t>(*from), span, integer(event, twinsAround_)});
      } else {
        thread.spans.push_back(span);
      }
    });
    if (!thread.spans.empty() || !hasOtherEvents) {
      trace_.threads.push_back(std::move(thread));
    }
  }

  /// @return false if the event is not a step.
  bool addStep(const detail::events::XEvent& event, std::int64_t start, std::int64_t duration,
               const detail::events::XLine& line) {
    std::optional<std::int64_t> number = integer(event, stepNumber_);
    if (!number && find(event.stats, stepName_) != nullptr) {
      number = integer(event, group_);
    }
    if (!number || device_ >= 0) {
      return false;
    }
    trace_.steps.push_back({*number, start, duration, 0});
    pending_.stepThreads.push_back(
        static_cast<std::uint64_t>(integer(event, thread_).value_or(line.id)));
    return true;
  }

  TraceSpan spanOf(const detail::events::XEvent& event) {
    TraceSpan span;
    span.name = nameOf(event.nameId);
    if (const detail::events::XStat* const value = find(event.stats, value_)) {
      span.value = numberOf(value->value);
      span.flags |= kHasValue;
    }
    const std::int64_t sequence = integer(event, sequence_).value_or(-1);
    span.sequence = isIn(sequence, 0, SpanRecord::kNoSequence - 1) ? sequence : -1;
    span.forwardThread = static_cast<std::uint16_t>(integer(event, forwardThread_).value_or(0));
    span.details = detailsOf(event);
    const std::int64_t correlation = integer(event, correlation_).value_or(0);
    const bool isOwn = !isIn(correlation, 1, detail::profile::kMaxCorrelation - 1);
    span.correlation = isOwn ? 0 : static_cast<std::uint32_t>(correlation);
    return span;
  }

  std::uint32_t nameOf(std::int64_t id) {
    const auto [known, isNew] = names_.try_emplace(id, trace_.names.size());
    if (isNew) {
      const auto found = plane_.eventNames.find(id);
      trace_.names.push_back(traceNameOf(
          found != plane_.eventNames.end() ? found->second : detail::events::XEventName()));
    }
    return known->second;
  }

  TraceName traceNameOf(const detail::events::XEventName& name) const {
    TraceName result;
    result.text = name.displayName;
    if (result.text.empty()) {
      const bool isZone = startsWith(name.name, detail::profile::kZonePrefix);
      result.text =
          name.name.substr(isZone ? std::string_view(detail::profile::kZonePrefix).size() : 0);
    }
    const std::string kind = text(name.stats, ids_.of(detail::profile::kKindStat));
    result.kind = kindNamed(kind, device_ >= 0 ? SpanKind::kDevice : SpanKind::kZone);
    result.category = text(name.stats, ids_.of(detail::profile::kCategoryStat));
    if (kind.empty()) {
      detail::profile::recognizeKind(&result);
    }
    if (const detail::events::XStat* const color =
            find(name.stats, ids_.of(detail::profile::kColorStat))) {
      result.color = static_cast<std::uint32_t>(integerOf(color->value));
    }
    return result;
  }

  std::uint32_t detailsOf(const detail::events::XEvent& event) {
    SpanDetails details;
    details.shapes = text(event.stats, shapes_);
    details.types = text(event.stats, types_);
    details.module = text(event.stats, module_);
    details.arguments = text(event.stats, arguments_);
    if (const detail::events::XStat* const flops = find(event.stats, flops_)) {
      details.flops = numberOf(flops->value);
    }
    details.bytes = integer(event, bytes_).value_or(0);
    if (details == SpanDetails()) {
      return 0;
    }
    std::string key = details.shapes + '\n' + details.types + '\n' + details.module + '\n' +
                      details.arguments + '\n' + std::to_string(details.flops) + '\n' +
                      std::to_string(details.bytes);
    const auto [known, isNew] = details_.try_emplace(std::move(key), trace_.details.size());
    if (isNew) {
      makeJson(&details);
      trace_.details.push_back(std::move(details));
    }
    return known->second;
  }

  /// Other writers may have stats of the same names with any text.
  static void makeJson(SpanDetails* details) {
    for (std::string* const json : {&details->shapes, &details->types}) {
      if (!json->empty()) {
        *json = detail::profile::validJson(*json);
      }
    }
    if (!details->arguments.empty() && !detail::profile::areJsonMembers(details->arguments)) {
      details->arguments = detail::base::jsonString(detail::profile::kArgumentsStat) + ": " +
                           detail::base::jsonString(details->arguments);
    }
  }

  void addMemory(const detail::events::XEvent& event, std::int64_t time) {
    const auto name = plane_.eventNames.find(event.nameId);
    if (name == plane_.eventNames.end()) {
      return;
    }
    const auto number = [&](const char* stat) { return integer(event, ids_.of(stat)).value_or(0); };
    const auto bytes = [&](const char* stat) {
      return std::clamp(number(stat), -kMaxBytes, kMaxBytes);
    };
    TraceMemoryEvent memory;
    memory.time = time;
    memory.address = static_cast<std::uint64_t>(number(detail::profile::kAddressStat));
    memory.bytes = bytes(detail::profile::kAllocationStat);
    if (name->second.name == detail::profile::kDeallocation) {
      memory.bytes = -memory.bytes;
    }
    memory.totalAllocated = bytes(detail::profile::kAllocatedStat);
    const std::int64_t available = bytes(detail::profile::kAvailableStat);
    memory.totalReserved = available != 0 ? memory.totalAllocated + available : 0;
    memory.deviceType = static_cast<int>(number(detail::profile::kDeviceTypeStat));
    memory.deviceIndex = static_cast<int>(number(detail::profile::kDeviceIdStat));
    trace_.memory.push_back(memory);
    pending_.memoryThreads.push_back(
        static_cast<std::uint64_t>(number(detail::profile::kThreadStat)));
  }

  void addCounter(const detail::events::XEvent& event, std::int64_t time) {
    const auto [known, isNew] = counters_.try_emplace(event.nameId, trace_.counters.size());
    if (isNew) {
      const auto name = plane_.eventNames.find(event.nameId);
      trace_.counters.push_back(
          {name != plane_.eventNames.end() ? name->second.name : std::string(), {}});
    }
    if (!event.stats.empty()) {
      trace_.counters[known->second].points.emplace_back(time, numberOf(event.stats[0].value));
    }
  }

  const detail::events::XPlane& plane_;
  const std::int64_t base_;
  const std::int64_t windowStart_;
  const int device_;
  Trace& trace_;
  Pending& pending_;
  const StatIds ids_;
  std::unordered_map<std::int64_t, std::uint32_t> names_;
  std::unordered_map<std::string, std::uint32_t> details_;
  std::unordered_map<std::int64_t, std::size_t> counters_;

  // Numbers that are compared for each event.
  const std::int64_t group_ = ids_.of(detail::profile::kGroupStat);
  const std::int64_t stepName_ = ids_.of(detail::profile::kStepNameStat);
  const std::int64_t stepNumber_ = ids_.of(detail::profile::kStepNumberStat);
  const std::int64_t thread_ = ids_.of(detail::profile::kThreadStat);
  const std::int64_t detachedFrom_ = ids_.of(detail::profile::kDetachedFromStat);
  const std::int64_t overlap_ = ids_.of(detail::profile::kOverlapStat);
  const std::int64_t twinsAround_ = ids_.of(detail::profile::kTwinsAroundStat);
  const std::int64_t value_ = ids_.of(detail::profile::kValueStat);
  const std::int64_t correlation_ = ids_.of(detail::profile::kCorrelationStat);
  const std::int64_t sequence_ = ids_.of(detail::profile::kSequenceStat);
  const std::int64_t forwardThread_ = ids_.of(detail::profile::kForwardThreadStat);
  const std::int64_t shapes_ = ids_.of(detail::profile::kShapesStat);
  const std::int64_t types_ = ids_.of(detail::profile::kTypesStat);
  const std::int64_t module_ = ids_.of(detail::profile::kModuleStat);
  const std::int64_t flops_ = ids_.of(detail::profile::kFlopsStat);
  const std::int64_t bytes_ = ids_.of(detail::profile::kBytesStat);
  const std::int64_t arguments_ = ids_.of(detail::profile::kArgumentsStat);
};

/// Times of a profile as its file states them, in Unix time; 0: not stated.
struct StatedTimes {
  std::int64_t profileStart = 0;
  std::int64_t profileStop = 0;
  std::int64_t windowStart = 0;
};

/// Returns bytes as text, in the form that messages in JSON have them.
/// @source RFC 4648, section 4
std::string base64(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t bits = 0;
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t k = 0; k < 3; ++k) {
      bits = bits << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += k <= count ? kDigits[bits >> (18 - 6 * k) & 63] : '=';
    }
  }
  return text;
}

/// Returns a stat as JSON. The texts of our own files are JSON, those of others any text.
std::string jsonOf(const detail::events::XPlane& plane, const detail::events::XStat& stat,
                   bool isOurs) {
  if (const auto* bytes = std::get_if<detail::events::XStatBytes>(&stat.value)) {
    return detail::base::jsonString(base64(bytes->bytes));
  }
  if (const auto* number = std::get_if<std::uint64_t>(&stat.value)) {
    return std::to_string(*number);
  }
  if (const auto* number = std::get_if<std::int64_t>(&stat.value)) {
    return std::to_string(*number);
  }
  if (const auto* number = std::get_if<double>(&stat.value)) {
    return detail::base::jsonNumber(*number);
  }
  const std::string_view text = plane.text(stat);
  return isOurs ? detail::profile::validJson(text) : detail::base::jsonString(text);
}

StatedTimes readEnvironment(const detail::events::XPlane& plane, Trace* trace) {
  StatedTimes times;
  const bool isOurs = StatIds(plane).of(detail::profile::kWindowStartStat) >= 0;
  const auto timeOf = [](std::int64_t number) {
    return std::clamp<std::int64_t>(number, 0, kMaxUnixNanos);
  };
  for (const detail::events::XStat& stat : plane.stats) {
    const auto found = plane.statNames.find(stat.id);
    const std::string name = found != plane.statNames.end() ? found->second : "";
    const std::int64_t number = integerOf(stat.value);
    if (name == detail::profile::kProfileStartStat) {
      times.profileStart = timeOf(number);
    } else if (name == detail::profile::kWindowStartStat) {
      times.windowStart = timeOf(number);
    } else if (name == detail::profile::kProfileStopStat) {
      times.profileStop = timeOf(number);
    } else if (name == detail::profile::kRankStat) {
      trace->rank = static_cast<int>(number);
    } else if (name == detail::profile::kWorldSizeStat) {
      trace->worldSize = static_cast<int>(number);
    } else if (name == detail::profile::kProcessIdStat) {
      trace->processId = number;
    } else if (name == detail::profile::kProcessNameStat) {
      trace->processName = plane.text(stat);
    } else if (name == detail::profile::kDroppedStat) {
      trace->dropped += static_cast<std::uint64_t>(number);
    } else {
      trace->metadata.emplace_back(name, jsonOf(plane, stat, isOurs));
    }
  }
  return times;
}

/// Returns the earliest Unix time of a line, as profilers had them before 2024; 0 if there is none.
std::int64_t earliestUnixTime(const detail::events::XSpace& space) {
  std::int64_t earliest = 0;
  for (const detail::events::XPlane& plane : space.planes) {
    for (const detail::events::XLine& line : plane.lines) {
      if (isIn(line.timestampNanos, kMinUnixNanos, kMaxUnixNanos) &&
          (earliest == 0 || line.timestampNanos < earliest)) {
        earliest = line.timestampNanos;
      }
    }
  }
  return earliest;
}

/// Returns the index of the thread with this number, and adds the thread if it is new.
std::size_t threadOf(int device, std::uint64_t id, Trace* trace) {
  const auto found = std::find_if(
      trace->threads.begin(), trace->threads.end(),
      [&](const TraceThread& thread) { return thread.device == device && thread.id == id; });
  if (found != trace->threads.end()) {
    return static_cast<std::size_t>(found - trace->threads.begin());
  }
  trace->threads.push_back({id, "", device, {}});
  return trace->threads.size() - 1;
}

/// A span, and how many of those with the same times come first.
using PlacedSpan = std::pair<TraceSpan, std::int64_t>;

/// Inserts spans whose place among those of the same times is known, in O(n log n).
void insertPlaced(std::vector<PlacedSpan>* placed, std::vector<TraceSpan>* spans) {
  std::stable_sort(spans->begin(), spans->end(), detail::profile::comesFirst);
  std::stable_sort(placed->begin(), placed->end(), [](const auto& a, const auto& b) {
    return detail::profile::areTwins(a.first, b.first)
               ? a.second < b.second
               : detail::profile::comesFirst(a.first, b.first);
  });
  std::vector<TraceSpan> all;
  all.reserve(spans->size() + placed->size());
  auto next = spans->begin();
  std::int64_t twins = 0;  // at the end of `all`
  for (const auto& [span, twinsAround] : *placed) {
    for (; next != spans->end() && detail::profile::comesFirst(*next, span); ++next) {
      all.push_back(*next);
    }
    twins = !all.empty() && detail::profile::areTwins(all.back(), span) ? twins : 0;
    for (; twins < twinsAround && next != spans->end() && detail::profile::areTwins(*next, span);
         ++next) {
      all.push_back(*next);
      ++twins;
    }
    all.push_back(span);
    ++twins;
  }
  all.insert(all.end(), next, spans->end());
  *spans = std::move(all);
}

void resolve(const Pending& pending, Trace* trace) {
  constexpr int kHost = -1;
  std::map<std::size_t, std::vector<PlacedSpan>> placed;  // by thread
  for (const Pending::Detached& each : pending.detached) {
    const std::size_t thread = threadOf(each.device, each.thread, trace);
    if (each.twinsAround) {
      placed[thread].emplace_back(each.span, *each.twinsAround);
    } else {
      trace->threads[thread].spans.push_back(each.span);
    }
  }
  for (auto& [thread, spans] : placed) {
    insertPlaced(&spans, &trace->threads[thread].spans);
  }
  for (std::size_t i = 0; i < trace->steps.size(); ++i) {
    trace->steps[i].thread = threadOf(kHost, pending.stepThreads[i], trace);
  }
  for (std::size_t i = 0; i < trace->memory.size(); ++i) {
    trace->memory[i].thread = threadOf(kHost, pending.memoryThreads[i], trace);
  }
  for (TraceThread& thread : trace->threads) {
    nestSpans(&thread.spans);
  }
  std::stable_sort(trace->steps.begin(), trace->steps.end(),
                   [](const TraceStep& a, const TraceStep& b) { return a.start < b.start; });
}

/// Returns the last end of anything in the trace.
std::int64_t endOf(const Trace& trace) {
  std::int64_t end = 0;
  const auto include = [&](std::int64_t time) { end = std::max(end, time); };
  for (const TraceThread& thread : trace.threads) {
    for (const TraceSpan& span : thread.spans) {
      include(span.start + span.duration);
    }
  }
  for (const TraceStep& step : trace.steps) {
    include(step.start + step.duration);
  }
  if (!trace.memory.empty()) {
    include(trace.memory.back().time);
  }
  return end;
}

Trace traceOf(const detail::events::XSpace& space) {
  Trace trace;
  Pending pending;
  StatedTimes times;
  for (const detail::events::XPlane& plane : space.planes) {
    if (plane.name == detail::profile::kEnvironmentPlane) {
      times = readEnvironment(plane, &trace);
    }
  }
  // Where lines have Unix times, nothing may begin before the profile, whatever it states.
  const std::int64_t earliest = earliestUnixTime(space);
  const bool isStated = times.profileStart >= kMinUnixNanos &&
                        (earliest == 0 || isIn(earliest - times.profileStart, 0, kMaxPicos / 1000));
  const std::int64_t base = isStated || earliest == 0 ? times.profileStart : earliest;
  const bool hasWindow =
      times.windowStart != 0 && isIn(times.windowStart - times.profileStart, 0, kMaxPicos / 1000);
  trace.originNanos = hasWindow ? times.windowStart : base;
  for (const detail::events::XPlane& plane : space.planes) {
    if (plane.name != detail::profile::kEnvironmentPlane) {
      PlaneReader(plane, base, trace.originNanos - base, &trace, &pending).read();
    }
  }
  if (!space.hostNames.empty()) {
    trace.hostName = space.hostNames[0];
  }
  resolve(pending, &trace);
  trace.duration = std::max<std::int64_t>(0, times.profileStop - trace.originNanos);
  if (!hasWindow) {
    // Others note the time at which they were told to stop, and record until they have stopped.
    trace.duration = std::max(trace.duration, endOf(trace));
  }
  return trace;
}

/// Reads a file, and inflates it if it is gzipped: no profile begins like that.
std::string contentOf(const std::string& path) {
  std::string bytes;
  detail::base::readWholeFile(path, bytes).throwIfError();
  if (!startsWith(bytes, "\x1f\x8b")) {
    return bytes;
  }
  bytes.clear();
  detail::base::GzipFile file(path);
  std::vector<char> block(std::size_t{1} << 16);
  while (const std::size_t size = file.readSome(block.data(), block.size())) {
    bytes.append(block.data(), size);
  }
  return bytes;
}

}  // namespace

Trace detail::profile::readXPlane(const std::string& path) {
  const std::string bytes = contentOf(path);
  detail::events::XSpace space;
  try {
    detail::events::decodeXSpace(bytes, &space).throwIfError();
    if (space.planes.empty()) {
      throw Error(ErrorCode::kDataLoss, detail::base::gotExpected("no planes", "at least one"));
    }
    return traceOf(space);
  } catch (const Error& error) {
    throw Error(ErrorCode::kInvalidArgument, path + " is not an XProf profile: " + error.what());
  }
}

}  // namespace steptape
