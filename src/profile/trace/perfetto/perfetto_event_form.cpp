// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/perfetto/perfetto_event_form.h"

#include "events/messages/wire_format.h"
#include "profile/trace/perfetto/perfetto_format.h"

namespace steptape::detail::profile {

std::string perfettoEventHead(std::string_view packetHead, std::string_view eventFields,
                              std::size_t lastBytes, std::size_t timeBytes) {
  std::string fields(packetHead);
  events::appendFieldKey(&fields, perfetto::packet::kTrackEvent,
                         events::WireType::kLengthDelimited);
  events::appendVarint(&fields, eventFields.size() + lastBytes);
  fields += eventFields;
  if (lastBytes == 0) {
    fields += perfetto::packet::kTimestampKey;
  }
  const std::size_t keyBytes = lastBytes == 0 ? 0 : 1;
  std::string head;
  events::appendFieldKey(&head, perfetto::kTracePacket, events::WireType::kLengthDelimited);
  events::appendVarint(&head, fields.size() + lastBytes + keyBytes + timeBytes);
  return head + fields;
}

void PerfettoEventForm::append(std::string_view lastFields, std::int64_t unixNanos) {
  const VarintBytes time(sequence_->advance(unixNanos));
  TraceText* const text = sequence_->text();
  text->append(headFor(lastFields.size(), time.size()));
  if (!lastFields.empty()) {
    text->append(lastFields);
    text->append({&perfetto::packet::kTimestampKey, 1});
  }
  text->append(time.view());
}

RepeatedText* PerfettoEventForm::headFor(std::size_t lastBytes, std::size_t timeBytes) {
  for (Variant& variant : variants_) {
    if (variant.lastBytes == lastBytes && variant.timeBytes == timeBytes) {
      return &variant.head;
    }
  }
  variants_.push_back(
      {lastBytes, timeBytes,
       RepeatedText(perfettoEventHead(sequence_->head(), fields_, lastBytes, timeBytes))});
  return &variants_.back().head;
}

}  // namespace steptape::detail::profile
