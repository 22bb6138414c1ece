// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "log/writer/box_records.h"
#include "log/writer/event_builder.h"
#include "log/writer/event_file.h"
#include "log/writer/kill_proof_log.h"
#include "log/writer/pending_records.h"

namespace steptape::detail::log {

/// What the kill-proof log holds of a stream, and what it lacks.
///
/// @threads Not thread-safe: only for the backend, except number().
class StreamLog {
 public:
  /// @param log Outlives this object, as the parts of the stream do.
  StreamLog(KillProofLog* log, const EventFile* file, const PendingRecords* pending,
            const EventBuilder* event)
      : log_(*log), number_(log->nextStream()), file_(*file), pending_(*pending), event_(*event) {}

  /// Returns the stream's number in the log.
  std::uint32_t number() const { return number_; }

  /// Adds to `record` what has changed since the last noteLogged(): pending records, the current
  /// event, and the file that they belong to.
  /// @param everything Whether the record shall say everything, as the first one of a log.
  /// @throws std::bad_alloc
  void addUpdate(bool everything, LogRecordBuilder* record);
  /// Records that the log now holds what the last addUpdate() has added. REQUIRES: nothing was
  /// added to the stream since.
  void noteLogged();

  /// Records that pending records were changed or dropped.
  void noteChanged() { mustLogAgain_ = true; }
  /// Makes the log hold all pending records, or announce that they come, as it must before they are
  /// written.
  void catchUp();

  /// Adds to `record` that the records which the log lacks are about to be written, without their
  /// bytes. REQUIRES: isFileLogged(), no event is open, and the rings keep all that the log lacks
  /// until the write has ended
  void announce(LogRecordBuilder* record) const;
  /// Records that the log now announces them. REQUIRES: nothing was added to the stream since.
  void noteAnnounced() { announcedEnd_ = pendingEnd(); }
  /// Returns whether the log knows the stream's file, and nothing in it has moved.
  bool isFileLogged() const { return !mustLogAgain_ && logged_.path == file_.path(); }

 private:
  /// What the log holds.
  struct Logged {
    std::string path;           // of the file
    std::uint64_t end = 0;      // in the file, of the complete records
    std::uint64_t through = 0;  // in the file, of the event that follows them
    std::uint64_t event = 0;    // the number of that event, and how many scalars it had
    std::size_t scalars = 0;
    std::uint64_t addedScalars = 0;  // to the complete records
  };

  std::string_view fileName() const;
  std::uint64_t pendingBegin() const { return file_.created() ? file_.size() : 0; }
  std::uint64_t pendingEnd() const { return pendingBegin() + pending_.bytes(); }

  KillProofLog& log_;
  const std::uint32_t number_;
  const EventFile& file_;
  const PendingRecords& pending_;
  const EventBuilder& event_;
  Logged logged_;
  std::uint64_t updateThrough_ = 0;  // what logged_.through becomes
  std::uint64_t announcedEnd_ = 0;   // in the file, of the write that comes
  bool mustLogAgain_ = false;
};

}  // namespace steptape::detail::log
