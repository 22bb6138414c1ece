// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "steptape/base/clock.h"
#include "steptape/base/status.h"
#include "steptape/events/event.h"
#include "steptape/log/curve_check.h"

namespace steptape {

/// What a call does if the queue has no room for its data.
enum class OverflowPolicy {
  kBlock,       ///< Wait up to WriterOptions::blockTimeout, then discard the new data.
  kDropNewest,  ///< Discard the new data; never wait.
  kDropOldest,  ///< Discard the oldest data in the calling thread's queue; never wait.
};

/// What a SummaryWriter does if another process writes into its directory with the same
/// WriterOptions::filenameSuffix. Readers would show both as one run: a curve of two trainings.
enum class OccupiedRun {
  kRefuse,        ///< The constructor throws, and names the process, its host and its job.
  kNewDirectory,  ///< Writes to the first of `<directory>_2`, `<directory>_3`, … that nobody uses.
  kShare,         ///< Writes there, and lets others do the same.
};

/// How a SummaryWriter names, buffers and writes. The defaults suit a training run.
struct WriterOptions {
  /// Appended to the name of the default directory; not used when a directory is given.
  std::string comment;

  /// Appended to the names of the event files.
  std::string filenameSuffix;

  /// A run whose writer has closed it, or whose process has died, is not occupied: a restarted
  /// training continues it. The default directory, which nobody chose, is replaced by a new one in
  /// either case. See docs/logging.md, "One writer for each run".
  OccupiedRun occupied = OccupiedRun::kRefuse;

  /// The step at which a run resumes from a checkpoint: TensorBoard discards points at or after it
  /// in earlier files of this run and of its sub-runs. Default: a new run.
  std::optional<std::int64_t> purgeStep;

  /// The form of scalars, histograms, images and audio. Values that the compatible field cannot
  /// hold are tensors in either form: several images of one tag and step, and histograms whose
  /// edges are equal in binary32, in which TensorBoard's Python loader reads the field `histo`.
  ValueForm valueForm = ValueForm::kCompatible;

  /// Size and age at which the writer starts a new event file; 0: never. Readers treat all files of
  /// the directory as one run. The write that reaches the limit closes the file, so that it may
  /// exceed the limit by 64 KiB or by one large value.
  std::int64_t maxFileBytes = 0;
  std::chrono::seconds maxFileAge = std::chrono::seconds(0);

  /// The longest time from a call until its bytes are passed to the operating system, which bounds
  /// the data that a failure of the machine can lose. `kill -9` loses no scalar: see
  /// docs/logging.md, "When a program is killed". One write(2) per period and file; the cost
  /// becomes noticeable below about 100 ms.
  std::chrono::milliseconds flushPeriod = std::chrono::seconds(1);

  /// Limit of the memory for data that is captured or encoded and not yet written. Scalars wait in
  /// a ring of 256 KiB per calling thread, which is not included.
  std::int64_t queueBytes = std::int64_t{64} << 20;

  OverflowPolicy overflow = OverflowPolicy::kBlock;

  /// The longest wait of a call under OverflowPolicy::kBlock. After a timeout, later calls do not
  /// wait again until there is room: a hung file system stops training once, for this time.
  std::chrono::milliseconds blockTimeout = std::chrono::seconds(1);

  /// The longest wait of flush() and close() for the disk.
  std::chrono::milliseconds flushTimeout = std::chrono::seconds(30);

  /// Scalars of one step that are logged within this time of each other share one Event.
  std::chrono::milliseconds coalesceWindow = std::chrono::milliseconds(5);

  /// False disables the writer: its calls do nothing and no file is created. For ranks that do not
  /// log.
  bool enabled = true;

  /// Called once for each problem: a full disk, discarded points, an invalid tag, and values that
  /// TensorBoard will not show, such as two kinds of values under one tag. Called on any thread,
  /// including the background thread; must not throw and must not call the writer. Default: writes
  /// one line to stderr.
  std::function<void(const Status&)> onError;

  /// The source of wall times. Null: the system clock, read through the cycle counter.
  std::shared_ptr<const Clock> clock;

  /// Called once for each finding about a curve, as CurveCheck makes them: NaN, a spike, a loss
  /// that diverges. Called on the background thread; must not throw and must not call the writer.
  /// Rules that need all curves are applied when the writer is closed. Empty: curves are not
  /// judged. The calls that log cost nothing more; the background thread takes about 0.1 us a
  /// point.
  std::function<void(const CurveFinding&)> onFinding;

  /// The rules for `onFinding` and `eventCommand`.
  CurveCheckOptions curveCheck;

  /// A command of a shell that is called when something happens to the run. It gets one JSON
  /// document on its standard input: `started` or `resumed`, `finding` as for `onFinding`, `hung`
  /// of a HangWatchdog, `ended` or `failed`, and what SummaryWriter::notify() passes on. Commands
  /// run one after another, at most 30 s each and ten a minute; the program never waits for them,
  /// except for five seconds at the end. Empty: none.
  std::string eventCommand;

  /// A place in a bucket, "s3://bucket/runs/exp", that is kept as the run's directory is, by a
  /// thread of its own: event files, traces, JSON files and autopsies, but no checkpoints. A
  /// process that is restarted, or `steptape sync`, sends what a killed one has left. Keys, region
  /// and endpoint are those of AWS's tools; libcurl is loaded when the writer is made. Training
  /// never waits, except in close(). See docs/bucket.md. Empty: none.
  std::string mirror;

  /// How often the mirror looks for new data. An event file that is still written is sent again
  /// then; the writer begins a new one early enough that this stays in proportion to the data.
  std::chrono::milliseconds mirrorPeriod = std::chrono::seconds(30);

  /// The longest wait of close() for the mirror, and from SIGTERM until the process ends if nothing
  /// else handles the signal. What is late then stays on the disk, and is reported.
  std::chrono::milliseconds mirrorTimeout = std::chrono::seconds(20);
};

/// Counts of the work of a writer so far.
struct WriterStats {
  std::uint64_t scalars = 0;       ///< Scalar points encoded.
  std::uint64_t values = 0;        ///< Histograms, images, texts and the like encoded.
  std::uint64_t events = 0;        ///< Records encoded, including the first of each file.
  std::uint64_t bytesWritten = 0;  ///< Bytes that the operating system has accepted.
  std::uint64_t files = 0;         ///< Event files created, including those of sub-runs.
  /// Scalar points discarded because of OverflowPolicy or of a disk that stayed full.
  std::uint64_t droppedScalars = 0;
  std::uint64_t droppedValues = 0;    ///< Other values discarded for these reasons.
  std::uint64_t retries = 0;          ///< Writes that were retried.
  std::uint64_t stepRegressions = 0;  ///< Values whose step is less than the last step of the tag.
  std::uint64_t mirrorBytes = 0;      ///< Bytes sent to WriterOptions::mirror, repeated ones too.
  std::uint64_t mirrorLateFiles = 0;  ///< Files that the mirror lacked when it last looked.
  std::uint64_t mirrorLateBytes = 0;  ///< Bytes that it lacked then.
};

}  // namespace steptape
