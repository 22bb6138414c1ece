// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "steptape/events/event.h"

#include "events/framing/record_buffer.h"
#include "log/writer/directory_place.h"

namespace steptape::detail::log {

// The records of a black box: what the numbers in the rings mean (file `.names`), and what waits to
// be written (file `.log`). A record is framed like one of an event file.
// @source docs/black_box_format.md

/// A run directory.
struct NamedRun {
  std::uint32_t id = 0;
  std::string directory;       ///< Absolute, without links.
  DirectoryIdentity identity;  ///< Finds the directory after it was moved.
};

/// An event stream: the run's own directory or one of a sub-run.
struct NamedStream {
  std::uint32_t id = 0;
  std::uint32_t run = 0;
  std::string directory;  ///< Absolute.
  std::string fileSuffix;
  std::optional<std::int64_t> purgeFrom;  ///< WriterOptions::purgeStep.
  double coalesceSeconds = 0;             ///< WriterOptions::coalesceWindow.
};

/// A scalar tag of a stream.
struct NamedSeries {
  std::uint32_t id = 0;
  std::uint32_t stream = 0;
  std::string tag;
  std::string displayName;
  std::string description;
  ValueForm form = ValueForm::kCompatible;
};

using NameRecord = std::variant<NamedRun, NamedStream, NamedSeries>;

void appendNameRecord(const NameRecord& record, std::string* payload);
/// @return false if `payload` is no such record.
bool decodeNameRecord(std::string_view payload, NameRecord* record);

/// How the ticks of ring entries become wall times.
struct TickTimes {
  std::uint64_t ticks = 0;  ///< At wallSeconds.
  double wallSeconds = 0;
  double nanosPerTick = 0;
};

/// Up to where the entries of a ring are in the log or in files.
struct RingCursor {
  std::uint32_t slot = 0;
  std::uint64_t index = 0;
};

/// What a stream has to write: from `offset` on, its event file shall hold `bytes`.
struct StreamUpdate {
  std::uint32_t stream = 0;
  std::string file;  ///< Its name; empty: it does not exist yet, and `offset` is 0.
  std::uint64_t offset = 0;
  std::string_view bytes;  ///< In the decoded record.
};

/// Whole records that are about to be written to an event file. They are in no log, because the
/// rings still hold what is in them. It counts until the next update of the stream.
struct AnnouncedWrite {
  std::uint32_t stream = 0;
  std::string file;  ///< Its name.
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t scalars = 0;  ///< How many the records hold.
};

/// One step of the log: what was true at one time. It counts as a whole or not at all.
struct LogRecord {
  TickTimes times;
  std::vector<RingCursor> cursors;
  std::vector<StreamUpdate> streams;
  std::vector<AnnouncedWrite> writes;
  /// Up to where the entries of rings are in `streams`, or in files once all `writes` are done;
  /// until the next cursor of the ring.
  std::vector<RingCursor> announced;
};

/// Builds a log record in its frame: what it holds is copied once.
class LogRecordBuilder {
 public:
  explicit LogRecordBuilder(const TickTimes& times) { begin(times); }
  LogRecordBuilder(const LogRecordBuilder&) = delete;
  LogRecordBuilder& operator=(const LogRecordBuilder&) = delete;

  /// Starts a new record in the same memory.
  void begin(const TickTimes& times);
  void addCursor(const RingCursor& cursor);
  /// Adds a stream's update without its bytes, which the caller appends to `bytes()`.
  void beginStream(std::uint32_t stream, std::string_view file, std::uint64_t offset);
  std::string* bytes() { return payload_; }
  void endStream();
  void addWrite(const AnnouncedWrite& write);
  void addAnnounced(const RingCursor& cursor);

  /// Returns whether nothing was added.
  bool isEmpty() const { return payload_->size() == headBytes_; }

  /// Ends the record. Nothing can be added after it.
  ///
  /// @return the framed record, valid until begin().
  std::string_view finish();

 private:
  events::RecordBuffer framed_;
  std::string* payload_ = nullptr;  // of the open record
  std::size_t headBytes_ = 0;
  std::size_t lengthAt_ = 0;  // of the open stream
};

/// @return false if `payload` is no such record; `*record` points into it.
bool decodeLogRecord(std::string_view payload, LogRecord* record);

}  // namespace steptape::detail::log
