// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/perfetto/perfetto_slices.h"

#include "base/little_endian.h"
#include "events/messages/wire_format.h"
#include "profile/trace/chrome/chrome_format.h"
#include "profile/trace/perfetto/perfetto_arguments.h"
#include "profile/trace/perfetto/perfetto_format.h"
#include "profile/trace/perfetto/perfetto_names.h"

namespace steptape::detail::profile {
namespace {

namespace event = perfetto::event;
namespace interned = perfetto::interned;

/// A trace whose spans all differ takes no more memory than this.
constexpr std::size_t kMaxFieldBytes = std::size_t{8} << 20;

void addArgument(std::string* fields, std::uint64_t name, std::uint64_t value) {
  constexpr std::size_t kKeys = 2;
  events::appendFieldKey(fields, event::kAnnotation, events::WireType::kLengthDelimited);
  events::appendVarint(fields, kKeys + events::varintBytes(name) + events::varintBytes(value));
  events::appendVarintField(fields, perfetto::annotation::kNameIid, name);
  events::appendVarintField(fields, perfetto::annotation::kInteger, value);
}

void addArgument(std::string* fields, std::uint64_t name, double value) {
  std::string bytes;
  events::appendVarintField(&bytes, perfetto::annotation::kNameIid, name);
  events::appendDoubleField(&bytes, perfetto::annotation::kDouble, value);
  events::appendBytesField(fields, event::kAnnotation, bytes);
}

void addFlow(std::string* fields, PerfettoFlow flow) {
  char id[sizeof flow.id];
  base::storeLittleEndian64(id, flow.id);
  events::appendFieldKey(fields, flow.isEnd ? event::kLastOfFlow : event::kFlow,
                         events::WireType::kFixed64);
  fields->append(id, sizeof id);
}

}  // namespace

PerfettoSlices::PerfettoSlices(const Trace& trace, std::size_t thread, PerfettoSequence* sequence)
    : trace_(trace), thread_(trace.threads[thread]), sequence_(sequence) {}

void PerfettoSlices::begin(const TraceSpan& span, PerfettoFlow flow, std::uint64_t track) {
  const std::string& fields = fieldsOf(span);
  own_.clear();
  const bool isBackward = trace_.names[span.name].kind == SpanKind::kBackward;
  const std::uint64_t forwardThread = isBackward ? span.forwardThread : 0;
  if (span.sequence >= 0 || forwardThread != 0) {
    addArgument(&own_, numberOf("Fwd thread id", &forwardName_), forwardThread);
  }
  if (span.sequence >= 0) {
    addArgument(&own_, numberOf("Sequence number", &sequenceName_),
                static_cast<std::uint64_t>(span.sequence));
  }
  if ((span.flags & kHasValue) != 0) {
    addArgument(&own_, numberOf("value", &valueName_), span.value);
  }
  if (span.correlation != 0) {
    addArgument(&own_, numberOf("correlation", &correlationName_), std::uint64_t{span.correlation});
  }
  if (flow.id != 0) {
    addFlow(&own_, flow);
  }
  if (track != 0) {
    events::appendVarintField(&own_, event::kTrack, track);
  }
  sequence_->writeNewNames();
  sequence_->appendEvent(fields, trace_.originNanos + span.start, own_);
}

void PerfettoSlices::end(std::int64_t time, std::uint64_t track) {
  std::string fields;
  events::appendVarintField(&fields, event::kType, event::kSliceEnd);
  if (track != 0) {
    events::appendVarintField(&fields, event::kTrack, track);
  }
  sequence_->appendEvent(fields, trace_.originNanos + time);
}

std::uint64_t PerfettoSlices::numberOf(std::string_view argument, std::uint64_t* known) {
  if (*known == 0) {
    *known = sequence_->names()->numberOf(interned::kAnnotationNames, argument);
  }
  return *known;
}

const std::string& PerfettoSlices::fieldsOf(const TraceSpan& span) {
  if (bytes_ > kMaxFieldBytes) {
    fields_.clear();
    bytes_ = 0;
  }
  const auto [known, isNew] = fields_.try_emplace(std::uint64_t{span.name} << 32 | span.details);
  if (isNew) {
    known->second = makeFields(span);
    bytes_ += sizeof *known + known->second.size();
  }
  return known->second;
}

std::string PerfettoSlices::makeFields(const TraceSpan& span) {
  const TraceName& name = trace_.names[span.name];
  PerfettoNames* const names = sequence_->names();
  std::string fields;
  events::appendVarintField(&fields, event::kType, event::kSliceBegin);
  events::appendVarintField(&fields, event::kCategoryIid,
                            names->numberOf(interned::kCategories, chromeCategoryOf(name)));
  events::appendVarintField(&fields, event::kNameIid, names->numberOf(interned::kNames, name.text));
  PerfettoArguments arguments(&fields, names);
  arguments.addName(name);
  arguments.addDetails(trace_.details[span.details]);
  if (thread_.device >= 0) {
    arguments.addInteger("device", thread_.device);
    arguments.addInteger("stream", static_cast<std::int64_t>(thread_.id));
  }
  return fields;
}

}  // namespace steptape::detail::profile
