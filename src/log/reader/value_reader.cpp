// SPDX-License-Identifier: Apache-2.0
#include "log/reader/value_reader.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/events/record_reader.h"

#include "base/got_expected.h"
#include "events/framing/record_format.h"
#include "events/messages/event_codec.h"
#include "log/reader/event_values.h"

namespace steptape::detail::log {
namespace {

/// A file up to the end of one record, so that no later bytes are read.
class UpToRecord final : public ByteSource {
 public:
  UpToRecord(const ByteSource& file, const ValueLocation& location)
      : file_(file), end_(location.offset + events::kFramingBytes + location.bytes) {}

  Status read(std::uint64_t offset, char* data, std::size_t size, std::size_t* got) const override {
    const std::uint64_t left = end_ - std::min(offset, end_);
    return file_.read(offset, data, static_cast<std::size_t>(std::min<std::uint64_t>(size, left)),
                      got);
  }
  const std::string& name() const override { return file_.name(); }

 private:
  const ByteSource& file_;
  const std::uint64_t end_;
};

/// Returns whether two times are equal; NaN equals NaN.
bool isSameTime(double a, double b) {
  return std::memcmp(&a, &b, sizeof a) == 0;  // NOLINT(bugprone-suspicious-memory-comparison)
}

Status hasChanged(const std::string& path, const ValueLocation& location) {
  return Status(ErrorCode::kDataLoss,
                "the file has changed: " +
                    base::gotExpected("no value " + std::to_string(location.index) + " at offset " +
                                          std::to_string(location.offset) + " of " + path,
                                      "the value that was read there"));
}

Status readEvent(const ByteSource& file, const ValueLocation& location, event::Event* event) {
  const UpToRecord source(file, location);
  RecordReader reader(&source);
  reader.seek(location.offset);
  std::string_view payload;
  const ReadOutcome outcome = reader.next(&payload);
  if (outcome == ReadOutcome::kCorrupt || outcome == ReadOutcome::kIoError) {
    return reader.lastError();
  }
  if (outcome == ReadOutcome::kTruncated || payload.size() != location.bytes) {
    return hasChanged(file.name(), location);
  }
  return events::decodeEvent(payload, event);
}

}  // namespace

Status readValue(const ByteSource& file, const ValueLocation& location, event::Value* value) {
  event::Event event;
  if (Status status = readEvent(file, location, &event); !status.ok()) {
    return status;
  }
  if (event.step != location.step || !isSameTime(event.wallTime, location.wallTime)) {
    return hasChanged(file.name(), location);
  }
  std::vector<event::Value> values = takeValues(std::move(event));
  if (location.index >= values.size()) {
    return hasChanged(file.name(), location);
  }
  *value = std::move(values[location.index]);
  return Status();
}

Status readValue(const std::string& path, const ValueLocation& location, event::Value* value) {
  try {
    return readValue(FileByteSource(path), location, value);
  } catch (const Error& error) {
    return Status(error.code(), error.what());
  }
}

}  // namespace steptape::detail::log
