// SPDX-License-Identifier: Apache-2.0
#include "log/writer/box_records.h"

#include <cstring>

#include "base/little_endian.h"

namespace steptape::detail::log {
namespace {

enum Kind : char {
  kRun = 'R',
  kStream = 'S',
  kSeries = 'T',
  kTimes = 't',
  kCursor = 'c',
  kUpdate = 'u',
  kWrite = 'w',
  kAnnounced = 'a',
};

void put(std::uint32_t value, std::string* out) {
  char bytes[4];
  base::storeLittleEndian32(bytes, value);
  out->append(bytes, sizeof(bytes));
}

void put(std::uint64_t value, std::string* out) {
  char bytes[8];
  base::storeLittleEndian64(bytes, value);
  out->append(bytes, sizeof(bytes));
}

void put(double value, std::string* out) {
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  put(bits, out);
}

void put(std::string_view text, std::string* out) {
  put(std::uint64_t{text.size()}, out);
  out->append(text);
}

/// Takes fields from the front of bytes that may be anything. Every method returns false if the
/// bytes end before.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : rest_(bytes) {}

  bool atEnd() const { return rest_.empty(); }
  bool take(char* value) {
    return takeBytes(1, [&](const char* from) { *value = *from; });
  }
  bool take(std::uint32_t* value) {
    return takeBytes(4, [&](const char* from) { *value = base::loadLittleEndian32(from); });
  }
  bool take(std::uint64_t* value) {
    return takeBytes(8, [&](const char* from) { *value = base::loadLittleEndian64(from); });
  }
  bool take(double* value) {
    std::uint64_t bits = 0;
    const bool taken = take(&bits);
    std::memcpy(value, &bits, sizeof(bits));
    return taken;
  }
  bool take(std::string_view* text) {
    std::uint64_t size = 0;
    if (!take(&size) || size > rest_.size()) {
      return false;
    }
    *text = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }
  bool take(std::string* text) {
    std::string_view view;
    const bool taken = take(&view);
    *text = view;
    return taken;
  }

 private:
  template <typename Store>
  bool takeBytes(std::size_t count, const Store& store) {
    if (rest_.size() < count) {
      return false;
    }
    store(rest_.data());
    rest_.remove_prefix(count);
    return true;
  }

  std::string_view rest_;
};

void appendFields(const NamedRun& run, std::string* out) {
  out->push_back(kRun);
  put(run.id, out);
  put(run.identity.device, out);
  put(run.identity.inode, out);
  put(std::string_view(run.directory), out);
  put(run.identity.created, out);
}

void appendFields(const NamedStream& stream, std::string* out) {
  out->push_back(kStream);
  put(stream.id, out);
  put(stream.run, out);
  put(std::string_view(stream.directory), out);
  put(std::string_view(stream.fileSuffix), out);
  put(stream.coalesceSeconds, out);
  put(std::uint32_t{stream.purgeFrom.has_value()}, out);
  put(static_cast<std::uint64_t>(stream.purgeFrom.value_or(0)), out);
}

void appendFields(const NamedSeries& series, std::string* out) {
  out->push_back(kSeries);
  put(series.id, out);
  put(series.stream, out);
  put(std::uint32_t{series.form == ValueForm::kCompatible}, out);
  put(std::string_view(series.tag), out);
  put(std::string_view(series.displayName), out);
  put(std::string_view(series.description), out);
}

bool takeRun(Fields* fields, NamedRun* run) {
  return fields->take(&run->id) && fields->take(&run->identity.device) &&
         fields->take(&run->identity.inode) && fields->take(&run->directory) &&
         fields->take(&run->identity.created);
}

bool takeStream(Fields* fields, NamedStream* stream) {
  std::uint32_t purges = 0;
  std::uint64_t purgeFrom = 0;
  if (!fields->take(&stream->id) || !fields->take(&stream->run) ||
      !fields->take(&stream->directory) || !fields->take(&stream->fileSuffix) ||
      !fields->take(&stream->coalesceSeconds) || !fields->take(&purges) ||
      !fields->take(&purgeFrom)) {
    return false;
  }
  if (purges != 0) {
    stream->purgeFrom = static_cast<std::int64_t>(purgeFrom);
  }
  return true;
}

bool takeSeries(Fields* fields, NamedSeries* series) {
  std::uint32_t isCompatible = 0;
  if (!fields->take(&series->id) || !fields->take(&series->stream) ||
      !fields->take(&isCompatible) || !fields->take(&series->tag) ||
      !fields->take(&series->displayName) || !fields->take(&series->description)) {
    return false;
  }
  series->form = isCompatible != 0 ? ValueForm::kCompatible : ValueForm::kTensor;
  return true;
}

bool takeTimes(Fields* fields, TickTimes* times) {
  return fields->take(&times->ticks) && fields->take(&times->wallSeconds) &&
         fields->take(&times->nanosPerTick);
}

bool takeCursor(Fields* fields, RingCursor* cursor) {
  return fields->take(&cursor->slot) && fields->take(&cursor->index);
}

bool takeUpdate(Fields* fields, StreamUpdate* update) {
  return fields->take(&update->stream) && fields->take(&update->file) &&
         fields->take(&update->offset) && fields->take(&update->bytes);
}

bool takeWrite(Fields* fields, AnnouncedWrite* write) {
  return fields->take(&write->stream) && fields->take(&write->file) &&
         fields->take(&write->offset) && fields->take(&write->bytes) &&
         fields->take(&write->scalars);
}

}  // namespace

void appendNameRecord(const NameRecord& record, std::string* payload) {
  std::visit([payload](const auto& named) { appendFields(named, payload); }, record);
}

bool decodeNameRecord(std::string_view payload, NameRecord* record) {
  Fields fields(payload);
  char kind = 0;
  if (!fields.take(&kind)) {
    return false;
  }
  bool taken = false;
  switch (kind) {
    case kRun:
      taken = takeRun(&fields, &record->emplace<NamedRun>());
      break;
    case kStream:
      taken = takeStream(&fields, &record->emplace<NamedStream>());
      break;
    case kSeries:
      taken = takeSeries(&fields, &record->emplace<NamedSeries>());
      break;
    default:
      break;
  }
  return taken && fields.atEnd();
}

void LogRecordBuilder::begin(const TickTimes& times) {
  if (payload_ != nullptr) {
    framed_.cancelRecord();
  }
  framed_.clear();
  payload_ = framed_.beginRecord();
  payload_->push_back(kTimes);
  put(times.ticks, payload_);
  put(times.wallSeconds, payload_);
  put(times.nanosPerTick, payload_);
  headBytes_ = payload_->size();
}

void LogRecordBuilder::addCursor(const RingCursor& cursor) {
  payload_->push_back(kCursor);
  put(cursor.slot, payload_);
  put(cursor.index, payload_);
}

void LogRecordBuilder::addAnnounced(const RingCursor& cursor) {
  payload_->push_back(kAnnounced);
  put(cursor.slot, payload_);
  put(cursor.index, payload_);
}

void LogRecordBuilder::addWrite(const AnnouncedWrite& write) {
  payload_->push_back(kWrite);
  put(write.stream, payload_);
  put(std::string_view(write.file), payload_);
  put(write.offset, payload_);
  put(write.bytes, payload_);
  put(write.scalars, payload_);
}

void LogRecordBuilder::beginStream(std::uint32_t stream, std::string_view file,
                                   std::uint64_t offset) {
  payload_->push_back(kUpdate);
  put(stream, payload_);
  put(file, payload_);
  put(offset, payload_);
  lengthAt_ = payload_->size();
  put(std::uint64_t{0}, payload_);
}

void LogRecordBuilder::endStream() {
  base::storeLittleEndian64(payload_->data() + lengthAt_, payload_->size() - lengthAt_ - 8);
}

std::string_view LogRecordBuilder::finish() {
  payload_ = nullptr;
  framed_.endRecord();
  return framed_.bytes();
}

bool decodeLogRecord(std::string_view payload, LogRecord* record) {
  *record = {};
  Fields fields(payload);
  while (!fields.atEnd()) {
    char kind = 0;
    if (!fields.take(&kind)) {
      return false;
    }
    bool taken = false;
    switch (kind) {
      case kTimes:
        taken = takeTimes(&fields, &record->times);
        break;
      case kCursor:
        taken = takeCursor(&fields, &record->cursors.emplace_back());
        break;
      case kAnnounced:
        taken = takeCursor(&fields, &record->announced.emplace_back());
        break;
      case kUpdate:
        taken = takeUpdate(&fields, &record->streams.emplace_back());
        break;
      case kWrite:
        taken = takeWrite(&fields, &record->writes.emplace_back());
        break;
      default:
        break;
    }
    if (!taken) {
      return false;
    }
  }
  return true;
}

}  // namespace steptape::detail::log
