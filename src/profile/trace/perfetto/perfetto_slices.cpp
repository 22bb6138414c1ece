// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/perfetto/perfetto_slices.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/little_endian.h"
#include "events/messages/wire_format.h"
#include "profile/trace/chrome/chrome_format.h"
#include "profile/trace/perfetto/perfetto_arguments.h"
#include "profile/trace/perfetto/perfetto_event_form.h"
#include "profile/trace/perfetto/perfetto_format.h"
#include "profile/trace/perfetto/perfetto_names.h"

namespace steptape::detail::profile {
namespace {

namespace event = perfetto::event;
namespace interned = perfetto::interned;

/// A trace whose spans all differ takes no more memory than this.
constexpr std::size_t kMaxRepeatedBytes = std::size_t{8} << 20;

/// The key of a field with a number of 16 to 2047.
constexpr std::array<char, 2> longKey(std::uint32_t field, events::WireType type) {
  const std::uint32_t key = field << 3 | static_cast<std::uint32_t>(type);
  return {static_cast<char>(key | 0x80), static_cast<char>(key >> 7)};
}

constexpr char shortKey(std::uint32_t field, events::WireType type) {
  return static_cast<char>(field << 3 | static_cast<std::uint32_t>(type));
}

char* putFlow(char* out, PerfettoFlow flow) {
  constexpr auto kKey = longKey(event::kFlow, events::WireType::kFixed64);
  constexpr auto kLastKey = longKey(event::kLastOfFlow, events::WireType::kFixed64);
  std::memcpy(out, (flow.isEnd ? kLastKey : kKey).data(), 2);
  base::storeLittleEndian64(out + 2, flow.id);
  return out + 10;
}

char* putValue(char* out, std::uint64_t name, double value) {
  std::string bytes;
  events::appendVarintField(&bytes, perfetto::annotation::kNameIid, name);
  events::appendDoubleField(&bytes, perfetto::annotation::kDouble, value);
  std::string field;
  events::appendBytesField(&field, event::kAnnotation, bytes);
  return std::copy(field.begin(), field.end(), out);
}

char* putCorrelation(char* out, std::uint64_t name, std::uint32_t correlation) {
  std::string bytes;
  events::appendVarintField(&bytes, perfetto::annotation::kNameIid, name);
  events::appendVarintField(&bytes, perfetto::annotation::kInteger, std::uint64_t{correlation});
  std::string field;
  events::appendBytesField(&field, event::kAnnotation, bytes);
  return std::copy(field.begin(), field.end(), out);
}

std::string endOfSlice() {
  std::string fields;
  events::appendVarintField(&fields, event::kType, event::kSliceEnd);
  return fields;
}

}  // namespace

struct PerfettoSlices::Numbers {
  Numbers(const TraceSpan& span, bool isBackward, std::uint64_t valueName,
          std::uint64_t correlationName, PerfettoFlow flow, std::uint64_t track,
          std::uint64_t delta) {
    char* out = bytes.data();
    if (span.sequence >= 0) {
      out = VarintBytes::put(out, static_cast<std::uint64_t>(span.sequence));
      sequenceBytes = static_cast<std::size_t>(out - bytes.data());
    }
    forwardThread = isBackward ? span.forwardThread : 0;
    if ((span.flags & kHasValue) != 0) {
      out = putValue(out, valueName, span.value);
    }
    if (span.correlation != 0) {
      out = putCorrelation(out, correlationName, span.correlation);
    }
    if (flow.id != 0) {
      out = putFlow(out, flow);
    }
    if (track != 0) {
      *out++ = shortKey(event::kTrack, events::WireType::kVarint);
      out = VarintBytes::put(out, track);
    }
    eventBytes = static_cast<std::size_t>(out - bytes.data());
    if (eventBytes != 0) {
      *out++ = perfetto::packet::kTimestampKey;
    }
    char* const time = out;
    out = VarintBytes::put(out, delta);
    timeBytes = static_cast<std::size_t>(out - time);
    size = static_cast<std::size_t>(out - bytes.data());
  }

  /// Equal for spans of the same name and details whose repeated texts are equal.
  std::uint32_t key() const {
    return static_cast<std::uint32_t>(timeBytes | sequenceBytes << 4 | eventBytes << 8) |
           std::uint32_t{forwardThread} << 16;
  }

  std::array<char, 96> bytes;
  std::size_t size;
  std::size_t eventBytes;         // of `bytes`, that belong to the TrackEvent
  std::size_t sequenceBytes = 0;  // of `bytes`, of the sequence number; 0: there is none
  std::size_t timeBytes;
  std::uint16_t forwardThread;
};

PerfettoSlices::PerfettoSlices(const Trace& trace, std::size_t thread, PerfettoSequence* sequence)
    : trace_(trace),
      thread_(trace.threads[thread]),
      sequence_(sequence),
      text_(sequence->text()),
      end_(endOfSlice(), sequence) {}

void PerfettoSlices::begin(const TraceSpan& span, PerfettoFlow flow, std::uint64_t track) {
  if ((span.flags & kHasValue) != 0 && valueName_ == 0) {
    valueName_ = sequence_->names()->numberOf(interned::kAnnotationNames, "value");
  }
  if (span.correlation != 0 && correlationName_ == 0) {
    correlationName_ = sequence_->names()->numberOf(interned::kAnnotationNames, "correlation");
  }
  const bool isBackward = trace_.names[span.name].kind == SpanKind::kBackward;
  const Numbers numbers(span, isBackward, valueName_, correlationName_, flow, track,
                        sequence_->advance(trace_.originNanos + span.start));
  RepeatedText* const repeated = repeatedTextOf(span, numbers);
  sequence_->writeNewNames();
  text_->append(repeated);
  text_->append({numbers.bytes.data(), numbers.size});
}

void PerfettoSlices::end(std::int64_t time, std::uint64_t track) {
  if (track != 0) {
    std::string field;
    events::appendVarintField(&field, event::kTrack, track);
    return end_.append(field, trace_.originNanos + time);
  }
  end_.append({}, trace_.originNanos + time);
}

RepeatedText* PerfettoSlices::repeatedTextOf(const TraceSpan& span, const Numbers& numbers) {
  const std::uint64_t pair = std::uint64_t{span.name} << 32 | span.details;
  // Programs repeat themselves: what followed last time will follow again.
  last_ = last_ != nullptr && last_->next != nullptr && last_->next->key == pair ? last_->next
                                                                                 : entryOf(pair);
  const std::uint32_t key = numbers.key();
  for (Variant& variant : last_->variants) {
    if (variant.key == key) {
      return &variant.repeated;
    }
  }
  last_->variants.push_back({key, makeBegin(span, numbers)});
  bytes_ += sizeof(Variant) + 2 * last_->variants.back().repeated.size();
  return &last_->variants.back().repeated;
}

PerfettoSlices::Entry* PerfettoSlices::entryOf(std::uint64_t key) {
  if (bytes_ > kMaxRepeatedBytes) {
    entries_.clear();
    bytes_ = 0;
    last_ = nullptr;
  }
  const auto [found, isNew] = entries_.try_emplace(key);
  Entry* const entry = &found->second;
  entry->key = key;
  bytes_ += isNew ? sizeof(Entry) : 0;
  if (last_ != nullptr) {
    last_->next = entry;
  }
  return entry;
}

RepeatedText PerfettoSlices::makeBegin(const TraceSpan& span, const Numbers& numbers) {
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
  if (numbers.sequenceBytes != 0 || numbers.forwardThread != 0) {
    arguments.addInteger("Fwd thread id", numbers.forwardThread);
  }
  if (numbers.sequenceBytes != 0) {
    arguments.beginInteger("Sequence number", numbers.sequenceBytes);
  }
  return RepeatedText(
      perfettoEventHead(sequence_->head(), fields, numbers.eventBytes, numbers.timeBytes));
}

}  // namespace steptape::detail::profile
