// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "steptape/events/record_reader.h"

#include "events/framing/record_buffer.h"
#include "events/messages/event_codec.h"

namespace steptape {

/// The position of bytes in a file: offset and size.
using Extent = std::pair<std::uint64_t, std::uint64_t>;
using Extents = std::vector<Extent>;

/// A file of scalars with known records: the n-th has step n, so that a point identifies its
/// record.
struct KnownFile {
  std::string bytes;
  Extents records;

  static double valueAt(std::int64_t step) { return static_cast<double>(step % 1000) / 8; }
};

/// Makes scalars of alternating forms, with a few tags of different lengths.
inline KnownFile makeKnownFile(std::int64_t records) {
  KnownFile file;
  detail::events::RecordBuffer buffer;
  for (std::int64_t step = 0; step < records; ++step) {
    event::Event event;
    event.wallTime = 1.7e9 + static_cast<double>(step);
    event.step = step;
    event::Value value;
    value.tag = std::string(static_cast<std::size_t>(1 + step % 7), 't');
    value.data = static_cast<float>(KnownFile::valueAt(step));
    event.what = event::Summary{{value}};
    std::string* const payload = buffer.beginRecord();
    detail::events::encodeEvent(event, payload);
    buffer.endRecord();
    std::string record = buffer.take();
    file.records.emplace_back(file.bytes.size(), record.size());
    file.bytes += record;
  }
  return file;
}

/// Returns the gaps between `records` in a file of `size` bytes.
inline Extents gapsBetween(const Extents& records, std::uint64_t size) {
  Extents gaps;
  std::uint64_t end = 0;
  for (const auto& [offset, bytes] : records) {
    if (offset > end) {
      gaps.emplace_back(end, offset - end);
    }
    end = offset + bytes;
  }
  if (end < size) {
    gaps.emplace_back(end, size - end);
  }
  return gaps;
}

/// Returns the records of `file` that are unchanged in `damaged`.
inline Extents intactRecords(const KnownFile& file, const std::string& damaged) {
  Extents intact;
  for (const Extent& record : file.records) {
    const auto [offset, bytes] = record;
    if (offset + bytes <= damaged.size() &&
        damaged.compare(offset, bytes, file.bytes, offset, bytes) == 0) {
      intact.push_back(record);
    }
  }
  return intact;
}

/// All complete records of a source, and the reader's error at each gap.
struct WholeRecords {
  Extents records;
  std::vector<std::uint64_t> stops;
};

inline WholeRecords readWholeRecords(const ByteSource& source) {
  RecordReader reader(&source);
  WholeRecords result;
  for (std::string_view payload;;) {
    const std::uint64_t begin = reader.offset();
    if (reader.next(&payload) == ReadOutcome::kRecord) {
      result.records.emplace_back(begin, reader.offset() - begin);
    } else if (reader.lastError().ok()) {
      return result;
    } else {
      result.stops.push_back(begin);
      if (reader.findRecord(begin + 1) != ReadOutcome::kRecord) {
        return result;
      }
    }
  }
}

}  // namespace steptape
