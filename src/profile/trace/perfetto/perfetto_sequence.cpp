// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/perfetto/perfetto_sequence.h"

#include <algorithm>

#include "events/messages/wire_format.h"
#include "profile/trace/perfetto/perfetto_format.h"

namespace steptape::detail::profile {
namespace {

namespace clocks = perfetto::clocks;
namespace defaults = perfetto::defaults;
namespace event = perfetto::event;
namespace packet = perfetto::packet;

std::string clockAt(std::uint64_t id, std::int64_t nanos) {
  std::string clock;
  events::appendVarintField(&clock, clocks::kId, id);
  events::appendVarintField(&clock, clocks::kTimestamp, static_cast<std::uint64_t>(nanos));
  return clock;
}

/// The first event's time is relative to that of the snapshot. The trace processor takes times
/// since the system's start as the default and reports a file that does not relate its own clock to
/// them; a Trace does not know them, so they are Unix times as well.
std::string clockSnapshot(std::int64_t unixNanos) {
  std::string own = clockAt(clocks::kSequence, unixNanos);
  events::appendVarintField(&own, clocks::kIsIncremental, 1);
  std::string snapshot;
  events::appendBytesField(&snapshot, clocks::kClock, own);
  events::appendBytesField(&snapshot, clocks::kClock, clockAt(clocks::kRealTime, unixNanos));
  events::appendBytesField(&snapshot, clocks::kClock, clockAt(clocks::kBootTime, unixNanos));
  events::appendVarintField(&snapshot, clocks::kPrimary, clocks::kRealTime);
  return snapshot;
}

std::string packetDefaults(std::uint64_t trackUuid) {
  std::string ofEvents;
  events::appendVarintField(&ofEvents, event::kTrack, trackUuid);
  std::string bytes;
  events::appendBytesField(&bytes, defaults::kTrackEvent, ofEvents);
  events::appendVarintField(&bytes, defaults::kTimestampClock, clocks::kSequence);
  return bytes;
}

/// Two fields, of which the second one has a small number.
constexpr std::size_t kMaxHead = 3 + events::kMaxVarint;

/// Writes a number or a length. REQUIRES: field < 16.
char* writeField(char* out, std::uint32_t field, events::WireType type, std::uint64_t number) {
  *out++ = static_cast<char>(field << 3 | static_cast<std::uint32_t>(type));
  return events::writeVarint(out, number);
}

std::string sequencePart(std::uint64_t id, std::uint64_t flags) {
  std::string part;
  events::appendVarintField(&part, packet::kSequenceId, id);
  events::appendVarintField(&part, packet::kSequenceFlags, flags);
  return part;
}

}  // namespace

void appendPerfettoPacket(std::string_view fields, TraceText* text) {
  std::string head;
  events::appendFieldKey(&head, perfetto::kTracePacket, events::WireType::kLengthDelimited);
  events::appendVarint(&head, fields.size());
  text->append(head);
  text->append(fields);
}

PerfettoSequence::PerfettoSequence(std::uint64_t track, std::string_view descriptor,
                                   PerfettoFileState* file, TraceText* text)
    : text_(text), last_(file->baseNanos) {
  const std::uint64_t id = ++file->lastSequence;
  head_ = sequencePart(id, packet::kNeedsState);
  std::string first = sequencePart(id, packet::kStateCleared);
  events::appendVarintField(&first, packet::kIsFirstOfSequence, 1);
  events::appendBytesField(&first, packet::kClockSnapshot, clockSnapshot(last_));
  appendPerfettoPacket(first, text_);

  std::string second = head_;
  events::appendBytesField(&second, packet::kDefaults, packetDefaults(track));
  if (!descriptor.empty()) {
    events::appendBytesField(&second, packet::kTrackDescriptor, descriptor);
  }
  appendPerfettoPacket(second, text_);
}

void PerfettoSequence::appendEvent(std::string_view event, std::int64_t unixNanos,
                                   std::string_view moreFields) {
  const std::int64_t later = std::max<std::int64_t>(unixNanos - last_, 0);
  last_ += later;
  // Written without a copy of the fields, because most of a trace is events.
  constexpr std::size_t kKey = 1;
  char time[kKey + events::kMaxVarint];
  char* const timeEnd = writeField(time, packet::kTimestamp, events::WireType::kVarint,
                                   static_cast<std::uint64_t>(later));
  const std::size_t timeBytes = static_cast<std::size_t>(timeEnd - time);
  const std::size_t eventBytes = event.size() + moreFields.size();
  const std::size_t packetBytes =
      head_.size() + kKey + events::varintBytes(eventBytes) + eventBytes + timeBytes;

  char front[2 * sizeof time + kMaxHead];
  char* out =
      writeField(front, perfetto::kTracePacket, events::WireType::kLengthDelimited, packetBytes);
  out = std::copy(head_.begin(), head_.end(), out);
  out = writeField(out, packet::kTrackEvent, events::WireType::kLengthDelimited, eventBytes);
  text_->append({front, static_cast<std::size_t>(out - front)});
  text_->append(event);
  text_->append(moreFields);
  text_->append({time, timeBytes});
}

void PerfettoSequence::writeNames() {
  std::string fields = head_;
  events::appendBytesField(&fields, packet::kInternedData, names_.takeNew());
  appendPerfettoPacket(fields, text_);
}

}  // namespace steptape::detail::profile
