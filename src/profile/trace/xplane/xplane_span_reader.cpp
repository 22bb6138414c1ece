// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/xplane/xplane_span_reader.h"

#include <utility>

#include "base/json_text.h"
#include "base/text.h"
#include "profile/trace/chrome/json_check.h"
#include "profile/trace/known_names.h"
#include "profile/trace/xplane/xplane_clock.h"

namespace steptape::detail::profile {
namespace {

using base::startsWith;

SpanKind kindNamed(std::string_view name, SpanKind otherwise) {
  for (std::size_t i = 0; i < kSpanKinds; ++i) {
    if (const auto kind = static_cast<SpanKind>(i); name == spanKindName(kind)) {
      return kind;
    }
  }
  return otherwise;
}

/// Other writers may have stats of the same names with any text.
void makeJson(SpanDetails* details) {
  for (std::string* const json : {&details->shapes, &details->types}) {
    if (!json->empty()) {
      *json = validJson(*json);
    }
  }
  if (!details->arguments.empty() && !areJsonMembers(details->arguments)) {
    details->arguments =
        base::jsonString(kArgumentsStat) + ": " + base::jsonString(details->arguments);
  }
}

}  // namespace

TraceSpan XPlaneSpanReader::spanOf(const events::XEvent& event) {
  TraceSpan span;
  span.name = nameOf(event.nameId);
  if (const events::XStat* const value = findStat(event.stats, value_)) {
    span.value = statNumber(value->value);
    span.flags |= kHasValue;
  }
  const std::int64_t sequence = statInteger(event, sequence_).value_or(-1);
  span.sequence = isIn(sequence, 0, SpanRecord::kNoSequence - 1) ? sequence : -1;
  span.forwardThread = static_cast<std::uint16_t>(statInteger(event, forwardThread_).value_or(0));
  span.details = detailsOf(event);
  const std::int64_t correlation = statInteger(event, correlation_).value_or(0);
  const bool isOwn = !isIn(correlation, 1, kMaxCorrelation - 1);
  span.correlation = isOwn ? 0 : static_cast<std::uint32_t>(correlation);
  return span;
}

std::uint32_t XPlaneSpanReader::nameOf(std::int64_t id) {
  const auto [known, isNew] = names_.try_emplace(id, trace_.names.size());
  if (isNew) {
    const auto found = plane_.eventNames.find(id);
    trace_.names.push_back(
        traceNameOf(found != plane_.eventNames.end() ? found->second : events::XEventName()));
  }
  return known->second;
}

TraceName XPlaneSpanReader::traceNameOf(const events::XEventName& name) const {
  TraceName result;
  result.text = name.displayName;
  if (result.text.empty()) {
    const bool isZone = startsWith(name.name, kZonePrefix);
    result.text = name.name.substr(isZone ? std::string_view(kZonePrefix).size() : 0);
  }
  const std::string kind = statText(plane_, name.stats, ids_.of(kKindStat));
  result.kind = kindNamed(kind, device_ >= 0 ? SpanKind::kDevice : SpanKind::kZone);
  result.category = statText(plane_, name.stats, ids_.of(kCategoryStat));
  if (kind.empty()) {
    recognizeKind(&result);
  }
  if (const events::XStat* const color = findStat(name.stats, ids_.of(kColorStat))) {
    result.color = static_cast<std::uint32_t>(statInteger(color->value));
  }
  return result;
}

std::uint32_t XPlaneSpanReader::detailsOf(const events::XEvent& event) {
  SpanDetails details;
  details.shapes = statText(plane_, event.stats, shapes_);
  details.types = statText(plane_, event.stats, types_);
  details.module = statText(plane_, event.stats, module_);
  details.arguments = statText(plane_, event.stats, arguments_);
  if (const events::XStat* const flops = findStat(event.stats, flops_)) {
    details.flops = statNumber(flops->value);
  }
  details.bytes = statInteger(event, bytes_).value_or(0);
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

}  // namespace steptape::detail::profile
