// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "events/framing/record_buffer.h"
#include "log/writer/box_records.h"
#include "log/writer/event_builder.h"
#include "log/writer/event_file.h"
#include "log/writer/kill_proof_log.h"
#include "log/writer/run_context.h"
#include "log/writer/scalar_series.h"
#include "log/writer/tag_notes.h"

namespace steptape::detail::log {

/// Writes one run directory: combines scalars into events, encodes them, and appends them to the
/// directory's event file, whatever fails on the disk.
///
/// Data that cannot be written waits in chunks of complete records and is retried at increasing
/// intervals. The order is kept.
///
/// @threads Not thread-safe: only for the backend, except construction and create().
class EventStream {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// @param context Of the run that the stream belongs to; outlives it, as the other two do.
  EventStream(RunContext* context, std::string directory, OpenFiles* openFiles, KillProofLog* log);

  const RunContext& context() const { return *context_; }
  const std::string& directory() const { return directory_; }
  /// Returns the stream's number in the kill-proof log.
  std::uint32_t number() const { return number_; }

  /// Creates the file and writes its first two records, "brain.Event:2" and SessionLog START. Only
  /// a writer's constructor needs to call it: otherwise, the first write does.
  Status create(double wallTime);

  /// Adds a scalar to the current event, or starts the next event. If there is no memory, the
  /// scalar counts as dropped.
  ///
  /// @param exact The caller gave the wall time: it is kept unchanged, and only scalars of an equal
  ///              wall time share the event.
  void addScalar(ScalarSeries* series, float value, std::int64_t step, double wallTime,
                 bool exact) noexcept {
    try {
      add(series, value, step, wallTime, exact);
    } catch (const std::exception& error) {
      loseScalar(series, error);
    }
  }

  /// Adds a scalar at the step of the tag's last one, so that it extends an existing curve and does
  /// not truncate it; at `step` if the tag has no scalar yet.
  void addScalarAtLastStep(ScalarSeries* series, float value, std::int64_t step, double wallTime,
                           bool exact);

  /// Adds a separate event. A tag's metadata is written only with its first value in a file.
  /// @throws std::bad_alloc, and then has added nothing.
  void addEvent(event::Event::What what, std::int64_t step, double wallTime, bool exact);

  /// Makes readers discard earlier points at `step` or later.
  void resume(std::int64_t step, double wallTime);

  /// Returns whether so much waits that it should be written while it is in the cache.
  bool wantsWrite() const { return failures_ == 0 && buffer_.bytes().size() >= kChunkBytes; }

  /// Ends the current event if its first scalar is older than the coalescing window.
  void finishAged(double now);

  /// Writes what is due: much, or anything older than the flush period.
  /// @throws std::bad_alloc, and keeps what is not written.
  void writeIfDue(TimePoint now);
  /// Writes everything, whatever the time and however recently a try failed.
  /// @throws std::bad_alloc, and keeps what is not written.
  Status writeAll(TimePoint now);

  /// Ends the file; drops and counts data that writeAll() could not write. A later value creates a
  /// new file.
  void close();

  /// Adds to `record` what has changed since the last noteLogged(): bytes that wait to be written,
  /// the current event among them, and the file that they belong to.
  /// @param everything Whether the record shall say everything, as the first one of a log.
  /// @throws std::bad_alloc
  void addUpdate(bool everything, LogRecordBuilder* record);
  /// Records that the log now holds what the last addUpdate() has added. REQUIRES: nothing was
  /// added to the stream since.
  void noteLogged();
  /// Returns whether the log holds all bytes that wait, as it must before they are written.
  bool isLogged() const;
  /// Returns whether the next write can be announced() instead of logged: it is due, and nothing
  /// stands in its way.
  bool canAnnounce() const;
  /// Ends the current event and adds to `record` that what the log lacks is about to be written,
  /// without its bytes. REQUIRES: canAnnounce(), the rings hold all that the log lacks, and keep it
  /// until the write has ended
  void announce(LogRecordBuilder* record);
  /// Records that the log now announces it. REQUIRES: nothing was added to the stream since.
  void noteAnnounced();

 private:
  // Large enough to amortize a write(2), and small enough to stay in the second-level cache.
  static constexpr std::size_t kChunkBytes = std::size_t{64} << 10;

  struct Chunk {
    std::string bytes;
    std::uint64_t scalars = 0;
    std::uint64_t values = 0;
  };
  using Metadata = std::unordered_map<std::string, event::SummaryMetadata>;  // by tag

  /// What the log holds of this stream.
  struct Logged {
    std::string path;           // of the file
    std::uint64_t end = 0;      // in the file, of the complete records
    std::uint64_t through = 0;  // in the file, of the event that follows them
    std::uint64_t event = 0;    // the number of that event, and how many scalars it had
    std::size_t scalars = 0;
    std::uint64_t bufferScalars = 0;  // of those in buffer_
  };
  std::uint64_t pendingBegin() const { return file_.created() ? file_.size() : 0; }
  void appendPending(std::uint64_t skip, std::string* out) const;
  void logNow();
  std::size_t pendingBytes() const { return chunkBytes_ + buffer_.bytes().size(); }
  void add(ScalarSeries* series, float value, std::int64_t step, double wallTime, bool exact) {
    if (!exact) {
      wallTime = event_.monotonic(wallTime);
    }
    if (step <= series->lastStep) {
      tags_.noteOldStep(series, value, step);
    }
    series->lastStep = step;
    series->lastValue = value;
    if (!event_.fits(*series, step, wallTime, exact)) {
      beginEvent(step, wallTime, exact);
    }
    const bool isFirstInFile = series->describedInFile != fileSerial_;
    if (isFirstInFile) {
      describe(series);
    }
    event_.add(series, value, isFirstInFile);
  }
  // Not inlined: work per event or per tag must not take registers from the loop over scalars.
  [[gnu::noinline]] void beginEvent(std::int64_t step, double wallTime, bool exact);
  [[gnu::noinline]] void finishEvent();
  [[gnu::noinline]] void describe(ScalarSeries* series);
  [[gnu::noinline]] void loseScalar(ScalarSeries* series, const std::exception& error) noexcept;
  void describeOnce(event::Value* value);
  void forgetDescriptions(const event::Summary* summary) noexcept;
  void noteAppended(bool isFirst);
  void sealBuffer();
  Status writeHead(double wallTime);
  Status ensureFile();
  Status finishClosed();
  void keepWholeRecords();
  bool rotationDue(TimePoint now) const;
  Status writePending();
  void noteFailure(const Status& status, TimePoint now);
  void updateBacklog();
  void dropOldestChunk();
  void describeAgain();
  std::string described(std::string_view records, const Metadata& metadata);

  RunContext* const context_;
  const std::string directory_;
  OpenFiles* const openFiles_;
  KillProofLog* const log_;
  const std::uint32_t number_;
  EventFile file_;
  TimePoint fileBegan_;
  std::optional<std::int64_t> purgeFrom_;  // readers discard from here on
  bool mustFinish_ = false;                // close() could not finish file_
  int finishTries_ = 0;
  std::string head_;                // first records of the current file, until they are written
  std::uint64_t fileSerial_ = 1;    // changes when tags must be described again
  Metadata described_;              // of every tag described in the current file
  bool mustDescribeAgain_ = false;  // before any other write

  TagNotes tags_;

  EventBuilder event_;

  std::deque<Chunk> chunks_;  // only while writing fails
  std::size_t chunkBytes_ = 0;
  events::RecordBuffer buffer_;  // follows chunks_
  std::uint64_t bufferScalars_ = 0;
  std::uint64_t bufferValues_ = 0;
  TimePoint oldest_;  // when the first of pendingBytes() was added

  Logged logged_;
  std::uint64_t updateThrough_ = 0;  // what logged_.through becomes
  bool mustLogAgain_ = false;        // waiting bytes have changed or moved
  std::uint64_t announcedEnd_ = 0;   // in the file, of the write that the log announces

  int failures_ = 0;  // in a row
  TimePoint retryAt_;
  std::size_t knownBacklog_ = 0;  // bytes that context_ counts for this stream
};

}  // namespace steptape::detail::log
