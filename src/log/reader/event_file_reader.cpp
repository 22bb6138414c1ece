// SPDX-License-Identifier: Apache-2.0
#include "steptape/log/event_file_reader.h"

#include <utility>

#include "events/messages/event_codec.h"

namespace steptape {

EventFileReader::EventFileReader(const std::string& path)
    : EventFileReader(std::make_unique<FileByteSource>(path)) {}

EventFileReader::EventFileReader(std::unique_ptr<ByteSource> source)
    : name_(source->name()), records_(std::move(source)) {}

ReadOutcome EventFileReader::next(event::Event* event) {
  if (!undecodable_.ok()) {
    return ReadOutcome::kCorrupt;
  }
  const std::uint64_t offset = records_.offset();
  std::string_view payload;
  const ReadOutcome outcome = records_.next(&payload);
  if (outcome != ReadOutcome::kRecord) {
    return outcome;
  }
  const Status status = detail::events::decodeEvent(payload, event);
  if (!status.ok()) {
    undecodable_ = Status(
        status.code(), status.message() + " at offset " + std::to_string(offset) + " of " + name_);
    undecodableOffset_ = offset;
    return ReadOutcome::kCorrupt;
  }
  return outcome;
}

ReadOutcome EventFileReader::skipDamage() {
  if (!undecodable_.ok()) {
    // The record itself is complete: continue at the next one.
    undecodable_ = Status();
    return ReadOutcome::kRecord;
  }
  const std::uint64_t from = records_.offset() + (isSearching_ ? 0 : 1);
  const ReadOutcome outcome = records_.findRecord(from);
  isSearching_ = outcome == ReadOutcome::kTruncated;
  return outcome;
}

}  // namespace steptape
