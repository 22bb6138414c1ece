// SPDX-License-Identifier: Apache-2.0
#include "log/writer/dead_process.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "steptape/events/record_reader.h"

#include "log/writer/kill_proof_log.h"
#include "process/blackbox/box_file.h"

namespace steptape::detail::log {
namespace {

class Reading {
 public:
  Reading(std::uint64_t box, DeadProcess* process) : box_(box), process_(process) {}

  void readNames(std::string bytes) {
    readRecords("names", std::move(bytes), [this](std::string_view payload) {
      NameRecord record;
      if (!decodeNameRecord(payload, &record)) {
        return false;
      }
      std::visit([this](auto& named) { keep(std::move(named)); }, record);
      return true;
    });
  }

  void readLog(std::string bytes) {
    process_->logBytes = readRecords("log", std::move(bytes), [this](std::string_view payload) {
      LogRecord record;
      if (!decodeLogRecord(payload, &record)) {
        return false;
      }
      process_->times = record.times;
      for (const RingCursor& cursor : record.cursors) {
        cursors_[cursor.slot] = cursor.index;
        announced_.erase(cursor.slot);
      }
      for (const RingCursor& cursor : record.announced) {
        announced_[cursor.slot] = cursor.index;
      }
      for (AnnouncedWrite& write : record.writes) {
        process_->writes[write.stream] = std::move(write);
      }
      for (const StreamUpdate& update : record.streams) {
        apply(update);
      }
      return true;
    });
  }

  void readRings(std::string_view bytes) {
    if (!checkHeader("rings", bytes)) {
      return;
    }
    const std::size_t slots = (bytes.size() - process::BoxHeader::kBytes) / kRingSlotBytes;
    for (std::size_t slot = 0; slot < slots; ++slot) {
      if (!readRing(static_cast<std::uint32_t>(slot),
                    bytes.data() + process::BoxHeader::kBytes + slot * kRingSlotBytes)) {
        complain("rings", "the ring of thread " + std::to_string(slot) + " is damaged");
      }
    }
    auto& entries = process_->entries;
    const auto values = std::remove_if(entries.begin(), entries.end(),
                                       [](const RingEntry& entry) { return !entry.isScalar(); });
    process_->unreadableValues = static_cast<std::uint64_t>(entries.end() - values);
    entries.erase(values, entries.end());
    std::stable_sort(entries.begin(), entries.end(),
                     [](const RingEntry& a, const RingEntry& b) { return a.ticks < b.ticks; });
  }

  void complain(const char* part, const std::string& what) {
    process_->problems.push_back("black box, part \"" + std::string(part) + "\": " + what);
  }

 private:
  bool readRing(std::uint32_t slot, const char* bytes) {
    std::uint64_t end = 0;
    std::vector<RingEntry> entries;
    if (!ScalarRing::Image::read(bytes, cursors_[slot], &entries, &end)) {
      return false;
    }
    auto later = entries.begin();
    if (const auto announced = announced_.find(slot); announced != announced_.end()) {
      std::vector<RingEntry> others;
      if (!ScalarRing::Image::read(bytes, announced->second, &others, &end)) {
        return false;
      }
      later = entries.end() - static_cast<std::ptrdiff_t>(others.size());
      process_->announced.assign(entries.begin(), later);
    }
    process_->entries.insert(process_->entries.end(), later, entries.end());
    process_->cursors.push_back({slot, end});
    return true;
  }

  void keep(NamedRun named) {
    const std::uint32_t id = named.id;
    process_->runs[id] = std::move(named);
  }
  void keep(NamedStream named) {
    const std::uint32_t id = named.id;
    process_->streams[id].named = std::move(named);
  }
  void keep(NamedSeries named) {
    const std::uint32_t id = named.id;
    process_->series[id] = std::move(named);
  }

  void apply(const StreamUpdate& update) {
    const auto found = process_->streams.find(update.stream);
    if (found == process_->streams.end()) {
      complain("log", "stream " + std::to_string(update.stream) + " has no name");
      return;
    }
    process_->writes.erase(update.stream);
    DeadProcess::Stream& stream = found->second;
    const bool continues = stream.file == update.file && update.offset >= stream.offset &&
                           update.offset - stream.offset <= stream.bytes.size();
    if (continues) {
      stream.bytes.resize(update.offset - stream.offset);
    } else {
      stream.file = update.file;
      stream.offset = update.offset;
      stream.bytes.clear();
    }
    stream.bytes.append(update.bytes);
  }

  bool checkHeader(const char* part, std::string_view bytes) {
    process::BoxHeader header;
    const Status status = process::decodeBoxHeader(bytes, part, &header);
    if (!status.ok()) {
      complain(part, status.message());
    } else if (header.box != box_) {
      complain(part, "it belongs to another box");
    }
    return status.ok() && header.box == box_;
  }

  /// Calls `take` with each record until it returns false.
  /// @return the bytes of header and whole records; 0 if there is no header.
  template <typename Take>
  std::uint64_t readRecords(const char* part, std::string bytes, const Take& take) {
    if (!checkHeader(part, bytes)) {
      return 0;
    }
    const MemoryByteSource source(std::move(bytes), part);
    RecordReader reader(&source);
    reader.seek(process::BoxHeader::kBytes);
    std::string_view payload;
    std::uint64_t end = process::BoxHeader::kBytes;
    ReadOutcome outcome = reader.next(&payload);
    while (outcome == ReadOutcome::kRecord && take(payload)) {
      end = reader.offset();
      outcome = reader.next(&payload);
    }
    // A record that is cut off was being written when the process died: it never counted.
    if (outcome != ReadOutcome::kTruncated) {
      complain(part, "the record at byte " + std::to_string(end) + " is damaged");
    }
    return end;
  }

  const std::uint64_t box_;
  DeadProcess* const process_;
  std::map<std::uint32_t, std::uint64_t> cursors_;    // by slot
  std::map<std::uint32_t, std::uint64_t> announced_;  // by slot
};

}  // namespace

DeadProcess DeadProcess::decode(Files files, std::uint64_t box) {
  return decode(std::move(files.names), std::move(files.log), files.rings, box);
}

DeadProcess DeadProcess::decode(std::string names, std::string log, std::string_view rings,
                                std::uint64_t box) {
  DeadProcess process;
  Reading reading(box, &process);
  reading.readNames(std::move(names));
  reading.readLog(std::move(log));
  if (process.logBytes > 0 && !rings.empty()) {
    reading.readRings(rings);
  }
  return process;
}

DeadProcess DeadProcess::decodeNames(std::string names, std::uint64_t box) {
  DeadProcess process;
  Reading(box, &process).readNames(std::move(names));
  return process;
}

DeadProcess DeadProcess::read(const process::DeadBox& box) {
  constexpr std::size_t kMostBytes = std::size_t{4} << 30;
  Files files;
  std::vector<std::string> problems;
  const auto readPart = [&](const char* part, std::string* bytes) {
    const Status status = process::readBoxFile(box.name(), part, kMostBytes, bytes);
    if (!status.ok()) {
      problems.push_back(status.message());
    }
  };
  readPart("names", &files.names);
  readPart("log", &files.log);
  // After the machine was booted, the pages of the rings may be from different times.
  if (process::isOfThisBoot(box.header())) {
    readPart("rings", &files.rings);
  }
  DeadProcess process = decode(std::move(files), box.name().number);
  process.problems.insert(process.problems.begin(), problems.begin(), problems.end());
  return process;
}

void DeadProcess::removeLog(process::DeadBox* box) {
  // The log first: the rest alone says nothing.
  box->remove({"log", "next", "rings", "names"});
}

}  // namespace steptape::detail::log
