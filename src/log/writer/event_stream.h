// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>

#include "log/writer/curve_judge.h"
#include "log/writer/event_builder.h"
#include "log/writer/event_file.h"
#include "log/writer/kill_proof_log.h"
#include "log/writer/pending_records.h"
#include "log/writer/run_context.h"
#include "log/writer/scalar_series.h"
#include "log/writer/stream_log.h"
#include "log/writer/tag_descriptions.h"
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
  using TimePoint = PendingRecords::TimePoint;

  /// @param context Of the run that the stream belongs to; outlives it, as the other two do.
  EventStream(RunContext* context, std::string directory, OpenFiles* openFiles, KillProofLog* log);

  const RunContext& context() const { return *context_; }
  const std::string& directory() const { return directory_; }
  /// Returns what the kill-proof log holds of the stream.
  StreamLog& log() { return log_; }
  const StreamLog& log() const { return log_; }

  /// Returns whether the directory held event files before this one's.
  bool followsOthers() const { return file_.followsOthers(); }

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
  bool wantsWrite() const { return !pending_.isFailing() && pending_.isBufferLarge(); }
  /// Returns whether that write can be announced in the log instead of logged: nothing stands in
  /// its way. announce() then ends the current event; see StreamLog::announce().
  bool canAnnounce() const {
    return wantsWrite() && !pending_.hasChunks() && file_.created() && head_.empty() &&
           !mustFinish_ && !descriptions_.areLost() && log_.isFileLogged();
  }
  void announce(LogRecordBuilder* record) {
    finishEvent();
    log_.announce(record);
  }

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

 private:
  void add(ScalarSeries* series, float value, std::int64_t step, double wallTime, bool exact) {
    if (!exact) {
      wallTime = event_.monotonic(wallTime);
    }
    if (step <= series->lastStep) {
      tags_.noteOldStep(series, value, step);
    }
    series->lastStep = step;
    series->lastValue = value;
    if (judge_ != nullptr) {
      judge_->add(series->tag, value, step, wallTime);
    }
    if (!event_.fits(*series, step, wallTime, exact)) {
      beginEvent(step, wallTime, exact);
    }
    const bool isFirstInFile = descriptions_.lacks(*series);
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
  Status writeHead(double wallTime);
  Status ensureFile();
  Status finishClosed();
  bool rotationDue(TimePoint now) const;
  bool isSegment(std::uint64_t bytes, TimePoint::duration age) const;
  Status writePending();
  void noteFailure(const Status& status, TimePoint now);
  void updateBacklog();
  void describeAgain();

  RunContext* const context_;
  const std::string directory_;
  OpenFiles* const openFiles_;
  EventFile file_;
  TimePoint fileBegan_;
  std::optional<std::int64_t> purgeFrom_;  // readers discard from here on
  bool mustFinish_ = false;                // close() could not finish file_
  int finishTries_ = 0;
  std::string head_;  // first records of the current file, until they are written
  TagDescriptions descriptions_;
  TagNotes tags_;
  EventBuilder event_;
  PendingRecords pending_;
  StreamLog log_;
  const std::unique_ptr<CurveJudge> judge_;  // null: curves are not judged
  std::size_t knownBacklog_ = 0;             // bytes that context_ counts for this stream
};

}  // namespace steptape::detail::log
