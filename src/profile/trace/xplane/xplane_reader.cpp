// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "steptape/base/error.h"

#include "base/got_expected.h"
#include "base/gzip_file.h"
#include "base/json_text.h"
#include "base/text.h"
#include "base/whole_file.h"
#include "events/messages/xplane.h"
#include "profile/trace/chrome/json_check.h"
#include "profile/trace/known_names.h"
#include "profile/trace/xplane/xplane_clock.h"
#include "profile/trace/xplane/xplane_trace.h"
#include "profile/trace/xplane/xprof_names.h"

namespace steptape {
namespace {

using detail::startsWith;

// Larger numbers are not times: the year 2100, and the limit of writeXPlane(). Smaller ones are not
// Unix times, but times since the start of the profile: the year 2000.
constexpr std::int64_t kMaxUnixNanos = 4'102'444'800'000'000'000;
constexpr std::int64_t kMinUnixNanos = 946'684'800'000'000'000;
constexpr std::int64_t kMaxPicos = detail::kMaxXPlanePicos;
constexpr std::int64_t kMaxBytes = std::int64_t{1} << 60;

bool isIn(std::int64_t number, std::int64_t first, std::int64_t last) {
  return number >= first && number <= last;
}

/// Returns whether it is one of XProf's own lines; see xprof_names.h.
bool isDerivedLine(std::int64_t id) {
  return isIn(id, detail::kFirstDerivedLineId, detail::kLastDerivedLineId);
}

std::int64_t integerOf(const XStatValue& value) {
  if (const auto* number = std::get_if<std::uint64_t>(&value)) {
    return static_cast<std::int64_t>(*number);
  }
  const auto* number = std::get_if<std::int64_t>(&value);
  return number != nullptr ? *number : 0;
}

double numberOf(const XStatValue& value) {
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
  explicit StatIds(const XPlane& plane) {
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
  };
  std::vector<Detached> detached;
  std::vector<std::uint64_t> stepThreads;    // of each step
  std::vector<std::uint64_t> memoryThreads;  // of each memory event
};

class PlaneReader {
 public:
  /// @param base        The Unix time of the profile's start, for lines with such times.
  /// @param windowStart Start of the window relative to the profile's start, in nanoseconds.
  PlaneReader(const XPlane& plane, std::int64_t base, std::int64_t windowStart, Trace* trace,
              Pending* pending)
      : plane_(plane),
        base_(base),
        windowStart_(windowStart),
        device_(deviceOf(plane.name)),
        trace_(*trace),
        pending_(*pending),
        ids_(plane) {}

  void read() {
    for (const XLine& line : plane_.lines) {
      if (line.id == detail::kMemoryLineId) {
        forEachEvent(line,
                     [this](const XEvent& event, std::int64_t start) { addMemory(event, start); });
      } else if (line.name == detail::kCountersLine) {
        forEachEvent(line,
                     [this](const XEvent& event, std::int64_t start) { addCounter(event, start); });
      } else if (!isDerivedLine(line.id)) {
        addThread(line);
      }
    }
  }

 private:
  template <typename Take>
  void forEachEvent(const XLine& line, const Take& take) {
    XEvent event;
    for (const std::string_view bytes : line.events) {
      decodeXEvent(bytes, &event).throwIfError();
      if (isIn(timeOf(line), 0, kMaxPicos / 1000) && isIn(event.offsetPicos, 0, kMaxPicos) &&
          isIn(event.durationPicos, 0, kMaxPicos)) {
        take(event, nanos(line, event.offsetPicos));
      } else {
        ++trace_.dropped;
      }
    }
  }

  /// XProf needs spans that end picoseconds earlier; rounding restores their end.
  std::int64_t nanos(const XLine& line, std::int64_t picos) const {
    return timeOf(line) + (picos + 500) / 1000 - windowStart_;
  }

  /// Returns the time of a line since the start of the profile.
  std::int64_t timeOf(const XLine& line) const {
    return line.timestampNanos < kMinUnixNanos ? line.timestampNanos : line.timestampNanos - base_;
  }

  static const XStat* find(const std::vector<XStat>& stats, std::int64_t id) {
    const auto found =
        std::find_if(stats.begin(), stats.end(), [&](const XStat& stat) { return stat.id == id; });
    return found != stats.end() ? &*found : nullptr;
  }
  std::optional<std::int64_t> integer(const XEvent& event, std::int64_t id) const {
    const XStat* const stat = find(event.stats, id);
    return stat != nullptr ? std::optional(integerOf(stat->value)) : std::nullopt;
  }
  std::string text(const std::vector<XStat>& stats, std::int64_t id) const {
    const XStat* const stat = find(stats, id);
    return stat != nullptr ? std::string(plane_.text(*stat)) : "";
  }

  void addThread(const XLine& line) {
    TraceThread thread{static_cast<std::uint64_t>(line.id), line.name, device_, {}};
    bool hasOtherEvents = false;  // other than the thread's own
    forEachEvent(line, [&](const XEvent& event, std::int64_t start) {
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
        pending_.detached.push_back({device_, static_cast<std::uint64_t>(*from), span});
      } else {
        thread.spans.push_back(span);
      }
    });
    if (!thread.spans.empty() || !hasOtherEvents) {
      trace_.threads.push_back(std::move(thread));
    }
  }

  /// @return false if the event is not a step.
  bool addStep(const XEvent& event, std::int64_t start, std::int64_t duration, const XLine& line) {
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

  TraceSpan spanOf(const XEvent& event) {
    TraceSpan span;
    span.name = nameOf(event.nameId);
    if (const XStat* const value = find(event.stats, value_)) {
      span.value = numberOf(value->value);
      span.flags |= kHasValue;
    }
    const std::int64_t sequence = integer(event, sequence_).value_or(-1);
    span.sequence = isIn(sequence, 0, SpanRecord::kNoSequence - 1) ? sequence : -1;
    span.forwardThread = static_cast<std::uint16_t>(integer(event, forwardThread_).value_or(0));
    span.details = detailsOf(event);
    const std::int64_t correlation = integer(event, correlation_).value_or(0);
    const bool isOwn = !isIn(correlation, 1, detail::kMaxCorrelation - 1);
    span.correlation = isOwn ? 0 : static_cast<std::uint32_t>(correlation);
    return span;
  }

  std::uint32_t nameOf(std::int64_t id) {
    const auto [known, isNew] = names_.try_emplace(id, trace_.names.size());
    if (isNew) {
      const auto found = plane_.eventNames.find(id);
      trace_.names.push_back(
          traceNameOf(found != plane_.eventNames.end() ? found->second : XEventName()));
    }
    return known->second;
  }

  TraceName traceNameOf(const XEventName& name) const {
    TraceName result;
    result.text = name.displayName;
    if (result.text.empty()) {
      const bool isZone = startsWith(name.name, detail::kZonePrefix);
      result.text = name.name.substr(isZone ? std::string_view(detail::kZonePrefix).size() : 0);
    }
    const std::string kind = text(name.stats, ids_.of(detail::kKindStat));
    result.kind = kindNamed(kind, device_ >= 0 ? SpanKind::kDevice : SpanKind::kZone);
    result.category = text(name.stats, ids_.of(detail::kCategoryStat));
    if (kind.empty()) {
      detail::recognizeKind(&result);
    }
    if (const XStat* const color = find(name.stats, ids_.of(detail::kColorStat))) {
      result.color = static_cast<std::uint32_t>(integerOf(color->value));
    }
    return result;
  }

  std::uint32_t detailsOf(const XEvent& event) {
    SpanDetails details;
    details.shapes = text(event.stats, shapes_);
    details.types = text(event.stats, types_);
    details.module = text(event.stats, module_);
    details.arguments = text(event.stats, arguments_);
    if (const XStat* const flops = find(event.stats, flops_)) {
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
        *json = detail::validJson(*json);
      }
    }
    if (!details->arguments.empty() && !detail::areJsonMembers(details->arguments)) {
      details->arguments = detail::jsonString(detail::kArgumentsStat) + ": " +
                           detail::jsonString(details->arguments);
    }
  }

  void addMemory(const XEvent& event, std::int64_t time) {
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
    memory.address = static_cast<std::uint64_t>(number(detail::kAddressStat));
    memory.bytes = bytes(detail::kAllocationStat);
    if (name->second.name == detail::kDeallocation) {
      memory.bytes = -memory.bytes;
    }
    memory.totalAllocated = bytes(detail::kAllocatedStat);
    const std::int64_t available = bytes(detail::kAvailableStat);
    memory.totalReserved = available != 0 ? memory.totalAllocated + available : 0;
    memory.deviceType = static_cast<int>(number(detail::kDeviceTypeStat));
    memory.deviceIndex = static_cast<int>(number(detail::kDeviceIdStat));
    trace_.memory.push_back(memory);
    pending_.memoryThreads.push_back(static_cast<std::uint64_t>(number(detail::kThreadStat)));
  }

  void addCounter(const XEvent& event, std::int64_t time) {
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

  const XPlane& plane_;
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
  const std::int64_t group_ = ids_.of(detail::kGroupStat);
  const std::int64_t stepName_ = ids_.of(detail::kStepNameStat);
  const std::int64_t stepNumber_ = ids_.of(detail::kStepNumberStat);
  const std::int64_t thread_ = ids_.of(detail::kThreadStat);
  const std::int64_t detachedFrom_ = ids_.of(detail::kDetachedFromStat);
  const std::int64_t overlap_ = ids_.of(detail::kOverlapStat);
  const std::int64_t value_ = ids_.of(detail::kValueStat);
  const std::int64_t correlation_ = ids_.of(detail::kCorrelationStat);
  const std::int64_t sequence_ = ids_.of(detail::kSequenceStat);
  const std::int64_t forwardThread_ = ids_.of(detail::kForwardThreadStat);
  const std::int64_t shapes_ = ids_.of(detail::kShapesStat);
  const std::int64_t types_ = ids_.of(detail::kTypesStat);
  const std::int64_t module_ = ids_.of(detail::kModuleStat);
  const std::int64_t flops_ = ids_.of(detail::kFlopsStat);
  const std::int64_t bytes_ = ids_.of(detail::kBytesStat);
  const std::int64_t arguments_ = ids_.of(detail::kArgumentsStat);
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
std::string jsonOf(const XPlane& plane, const XStat& stat, bool isOurs) {
  if (const auto* bytes = std::get_if<XStatBytes>(&stat.value)) {
    return detail::jsonString(base64(bytes->bytes));
  }
  if (const auto* number = std::get_if<std::uint64_t>(&stat.value)) {
    return std::to_string(*number);
  }
  if (const auto* number = std::get_if<std::int64_t>(&stat.value)) {
    return std::to_string(*number);
  }
  if (const auto* number = std::get_if<double>(&stat.value)) {
    return detail::jsonNumber(*number);
  }
  const std::string_view text = plane.text(stat);
  return isOurs ? detail::validJson(text) : detail::jsonString(text);
}

StatedTimes readEnvironment(const XPlane& plane, Trace* trace) {
  StatedTimes times;
  const bool isOurs = StatIds(plane).of(detail::kWindowStartStat) >= 0;
  const auto timeOf = [](std::int64_t number) {
    return std::clamp<std::int64_t>(number, 0, kMaxUnixNanos);
  };
  for (const XStat& stat : plane.stats) {
    const auto found = plane.statNames.find(stat.id);
    const std::string name = found != plane.statNames.end() ? found->second : "";
    const std::int64_t number = integerOf(stat.value);
    if (name == detail::kProfileStartStat) {
      times.profileStart = timeOf(number);
    } else if (name == detail::kWindowStartStat) {
      times.windowStart = timeOf(number);
    } else if (name == detail::kProfileStopStat) {
      times.profileStop = timeOf(number);
    } else if (name == detail::kRankStat) {
      trace->rank = static_cast<int>(number);
    } else if (name == detail::kWorldSizeStat) {
      trace->worldSize = static_cast<int>(number);
    } else if (name == detail::kProcessIdStat) {
      trace->processId = number;
    } else if (name == detail::kProcessNameStat) {
      trace->processName = plane.text(stat);
    } else if (name == detail::kDroppedStat) {
      trace->dropped += static_cast<std::uint64_t>(number);
    } else {
      trace->metadata.emplace_back(name, jsonOf(plane, stat, isOurs));
    }
  }
  return times;
}

/// Returns the earliest Unix time of a line, as profilers had them before 2024; 0 if there is none.
std::int64_t earliestUnixTime(const XSpace& space) {
  std::int64_t earliest = 0;
  for (const XPlane& plane : space.planes) {
    for (const XLine& line : plane.lines) {
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

void resolve(const Pending& pending, Trace* trace) {
  constexpr int kHost = -1;
  for (const Pending::Detached& each : pending.detached) {
    trace->threads[threadOf(each.device, each.thread, trace)].spans.push_back(each.span);
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

Trace traceOf(const XSpace& space) {
  Trace trace;
  Pending pending;
  StatedTimes times;
  for (const XPlane& plane : space.planes) {
    if (plane.name == detail::kEnvironmentPlane) {
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
  for (const XPlane& plane : space.planes) {
    if (plane.name != detail::kEnvironmentPlane) {
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
  detail::readWholeFile(path, bytes).throwIfError();
  if (!startsWith(bytes, "\x1f\x8b")) {
    return bytes;
  }
  bytes.clear();
  detail::GzipFile file(path);
  std::vector<char> block(std::size_t{1} << 16);
  while (const std::size_t size = file.readSome(block.data(), block.size())) {
    bytes.append(block.data(), size);
  }
  return bytes;
}

}  // namespace

Trace readXPlane(const std::string& path) {
  const std::string bytes = contentOf(path);
  XSpace space;
  try {
    decodeXSpace(bytes, &space).throwIfError();
    if (space.planes.empty()) {
      throw Error(ErrorCode::kDataLoss, detail::gotExpected("no planes", "at least one"));
    }
    return traceOf(space);
  } catch (const Error& error) {
    throw Error(ErrorCode::kInvalidArgument, path + " is not an XProf profile: " + error.what());
  }
}

}  // namespace steptape
