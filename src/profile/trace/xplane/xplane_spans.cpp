// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/xplane/xplane_spans.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string>

#include "base/text.h"
#include "profile/trace/chrome/chrome_events.h"
#include "profile/trace/thread_time.h"
#include "profile/trace/xplane/xprof_names.h"

namespace steptape::detail::profile {
namespace {

bool isListedAsOperator(SpanKind kind) {
  return kind == SpanKind::kOperator || kind == SpanKind::kBackward ||
         kind == SpanKind::kCollective || kind == SpanKind::kWait || kind == SpanKind::kDevice;
}

/// Returns whether XProf counts the span as part of its step. XProf has no category for
/// communication on the host: collectives and waits count as "Host compute". Without a group, they
/// would count as "All Others", for which XProf blames the input pipeline. Zones would count with
/// their whole time, whatever happens in them.
bool isPartOfStep(SpanKind kind) {
  return isListedAsOperator(kind) || kind == SpanKind::kInput;
}

/// XProf's names for copies differ from CUPTI's.
std::string deviceEventName(const std::string& text) {
  struct Copy {
    const char* cupti;
    const char* xprof;
  };
  constexpr std::array<Copy, 3> kCopies = {{{"Memcpy HtoD", "MemcpyHToD"},
                                            {"Memcpy DtoH", "MemcpyDToH"},
                                            {"Memcpy DtoD", "MemcpyDToD"}}};
  for (const Copy& copy : kCopies) {
    if (base::startsWith(text, copy.cupti)) {
      return copy.xprof;
    }
  }
  return text;
}

/// Returns XProf's text for the size of a kernel; empty if `arguments`, in Kineto's words, are not
/// those of a kernel.
std::string kernelDetails(const std::string& arguments) {
  constexpr std::string_view kGrid = "\"grid\": ";
  if (arguments.find(kGrid) == std::string::npos) {
    return "";
  }
  std::map<std::string, std::string, std::less<>> facts;
  for (const auto& [key, value] : jsonMembers("{" + arguments + "}")) {
    std::string text = value.text;
    for (const char unwanted : {'[', ']', ' '}) {
      text.erase(std::remove(text.begin(), text.end(), unwanted), text.end());
    }
    facts[key] = text;
  }
  const auto fact = [&](std::string_view key, const char* none) {
    const auto found = facts.find(key);
    return found == facts.end() ? none : found->second;
  };
  return "regs:" + fact("registers per thread", "0") +
         " static_shared:0 dynamic_shared:" + fact("shared memory", "0") +
         " grid:" + fact("grid", "1,1,1") + " block:" + fact("block", "1,1,1") +
         " occ_pct:" + fact("est. achieved occupancy %", "0");
}

}  // namespace

XPlaneSpans::XPlaneSpans(const Trace& trace, const XPlaneClock& clock, bool isDevice,
                         events::XPlaneEncoder* plane)
    : trace_(trace),
      clock_(clock),
      plane_(*plane),
      isDevice_(isDevice),
      names_(trace.names.size()),
      details_(trace.details.size()),
      group_(plane->statId(kGroupStat)),
      flow_(plane->statId(kFlowStat)),
      correlation_(plane->statId(kCorrelationStat)),
      sequence_(plane->statId(kSequenceStat)),
      forwardThread_(plane->statId(kForwardThreadStat)),
      value_(plane->statId(kValueStat)),
      flops_(plane->statId(kFlopsStat)),
      bytes_(plane->statId(kBytesStat)) {}

void XPlaneSpans::add(const TraceSpan& span, const XPlaneSpanFacts& facts,
                      events::XLineEncoder* line) {
  const Name& name = nameOf(span.name);
  const std::int64_t start = clock_.picos(span.start);
  line->beginEvent(name.id, start, facts.endPicos - start);
  if (name.isInStep && start < facts.endPicos) {
    if (const std::int64_t step = stepOf(span.start); step >= 0) {
      line->addStat(group_, step);
    }
  }
  for (const auto& [stat, text] : name.texts) {
    line->addStat(stat, text);
  }
  if (span.correlation != 0) {
    line->addStat(correlation_, std::int64_t{span.correlation});
  } else if (isDevice_) {  // XProf needs a number
    line->addStat(correlation_, kMaxCorrelation + ++lastCorrelation_);
  }
  if (facts.flow != 0) {
    line->addStat(flow_, facts.flow);
  }
  if (facts.thread) {
    line->addStat(plane_.statId(kDetachedFromStat), *facts.thread);
    if (takesTimeOfThread(span)) {
      line->addStat(plane_.statId(kOverlapStat), std::int64_t{1});
    }
    if (facts.twinsAround) {
      line->addStat(plane_.statId(kTwinsAroundStat), *facts.twinsAround);
    }
  }
  if ((span.flags & kHasValue) != 0) {
    line->addStat(value_, span.value);
  }
  if (span.sequence >= 0) {
    line->addStat(sequence_, span.sequence);
    line->addStat(forwardThread_, std::int64_t{span.forwardThread});
  }
  if (span.details != 0) {
    addDetails(span.details, line);
  }
  line->endEvent();
}

/// Like stepAt(), but without a search: the next span is nearly always in the same step.
std::int64_t XPlaneSpans::stepOf(std::int64_t time) {
  const std::vector<TraceStep>& steps = trace_.steps;
  while (begun_ < steps.size() && steps[begun_].start <= time) {
    ++begun_;
  }
  while (begun_ > 0 && steps[begun_ - 1].start > time) {
    --begun_;
  }
  if (begun_ == 0) {
    return -1;
  }
  const TraceStep& step = steps[begun_ - 1];
  return time < step.start + step.duration ? step.number : -1;
}

void XPlaneSpans::addDetails(std::uint32_t index, events::XLineEncoder* line) {
  const SpanDetails& details = trace_.details[index];
  for (const auto& [stat, text] : textsOf(index)) {
    line->addStat(stat, text);
  }
  if (details.flops != 0) {
    line->addStat(flops_, details.flops);
  }
  if (details.bytes != 0) {
    line->addStat(bytes_, details.bytes);
  }
}

const XPlaneSpans::Name& XPlaneSpans::nameOf(std::uint32_t index) {
  Name& name = names_[index];
  if (name.id == 0) {
    const TraceName& traceName = trace_.names[index];
    name = isDevice_ ? declareDeviceName(traceName) : declareHostName(traceName);
  }
  return name;
}

XPlaneSpans::Name XPlaneSpans::declareHostName(const TraceName& name) {
  Name declared;
  const std::string xprofName =
      isListedAsOperator(name.kind) ? xprofOperatorName(name.text) : kZonePrefix + name.text;
  declared.id = plane_.addEventName({xprofName, name.text, statsOf(name)});
  declared.isInStep = isPartOfStep(name.kind);
  if (name.kind == SpanKind::kInput) {
    addText(kInputStageStat, name.text, &declared.texts);
    addText(kOperatorStat, kIteratorPrefix + name.text, &declared.texts);
  }
  return declared;
}

XPlaneSpans::Name XPlaneSpans::declareDeviceName(const TraceName& name) {
  Name declared;
  declared.id = plane_.addEventName({deviceEventName(name.text), name.text, statsOf(name)});
  declared.isInStep = true;
  addText(kOperatorStat, xprofOperatorName(name.text), &declared.texts);
  return declared;
}

std::vector<events::XStat> XPlaneSpans::statsOf(const TraceName& name) {
  std::vector<events::XStat> stats{
      {plane_.statId(kKindStat), events::XStatReference{plane_.statId(spanKindName(name.kind))}}};
  if (!name.category.empty()) {
    stats.push_back(
        {plane_.statId(kCategoryStat), events::XStatReference{plane_.statId(name.category)}});
  }
  if (name.color != 0) {
    stats.push_back({plane_.statId(kColorStat), std::int64_t{name.color}});
  }
  return stats;
}

const XPlaneSpans::Texts& XPlaneSpans::textsOf(std::uint32_t index) {
  std::optional<Texts>& texts = details_[index];
  if (!texts) {
    texts.emplace();
    const SpanDetails& details = trace_.details[index];
    addText(kShapesStat, details.shapes, &*texts);
    addText(kTypesStat, details.types, &*texts);
    addText(kModuleStat, details.module, &*texts);
    addText(kArgumentsStat, details.arguments, &*texts);
    if (isDevice_) {
      addText(kKernelStat, kernelDetails(details.arguments), &*texts);
    }
  }
  return *texts;
}

void XPlaneSpans::addText(const char* stat, std::string_view text, Texts* texts) {
  if (!text.empty()) {
    texts->emplace_back(plane_.statId(stat), events::XStatReference{plane_.statId(text)});
  }
}

}  // namespace steptape::detail::profile
