// SPDX-License-Identifier: Apache-2.0
#include "log/writer/tag_descriptions.h"

#include <variant>

#include "base/little_endian.h"
#include "events/framing/record_buffer.h"
#include "events/framing/record_format.h"
#include "events/messages/event_codec.h"
#include "log/writer/file_head.h"

namespace steptape::detail::log {

void TagDescriptions::add(ScalarSeries* series) {
  series->describedInFile = serial_;
  if (series->bytes.hasMetadata()) {
    described_.emplace(series->tag, series->metadata);
  }
}

void TagDescriptions::addOnce(event::Summary* summary) {
  for (event::Value& value : summary->values) {
    if (value.metadata && !described_.emplace(value.tag, *value.metadata).second) {
      value.metadata.reset();
    }
  }
}

void TagDescriptions::forget(const event::Summary& summary) noexcept {
  for (const event::Value& value : summary.values) {
    if (value.metadata) {
      described_.erase(value.tag);
    }
  }
}

void TagDescriptions::describeAgain(PendingRecords* pending, std::size_t skipped) {
  ++serial_;
  Metadata metadata;
  metadata.swap(described_);
  try {
    pending->rewrite(skipped,
                     [&](std::string_view records) { return described(records, metadata); });
  } catch (...) {
    described_.swap(metadata);
    throw;
  }
  areLost_ = false;
}

/// Returns `records` with the elements of `metadata` that are not yet in described_, and adds them
/// to it.
std::string TagDescriptions::described(std::string_view records, const Metadata& metadata) {
  events::RecordBuffer result;
  while (!records.empty()) {
    const std::uint64_t length = base::loadLittleEndian64(records.data());
    event::Event event;
    // Cannot fail: this process encoded the bytes.
    if (events::decodeEvent(records.substr(events::kHeaderBytes, length), &event).ok()) {
      if (auto* const summary = std::get_if<event::Summary>(&event.what)) {
        for (event::Value& value : summary->values) {
          const auto known = metadata.find(value.tag);
          if (known != metadata.end() && described_.insert(*known).second) {
            value.metadata = known->second;
          }
        }
      }
      appendRecord(event, &result);
    }
    records.remove_prefix(events::kFramingBytes + length);
  }
  return result.take();
}

}  // namespace steptape::detail::log
