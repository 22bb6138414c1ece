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
#include "steptape/event/event.h"

namespace steptape {

/// What a call does when there is no room for what it brings.
enum class OverflowPolicy {
  kBlock,       ///< Wait up to WriterOptions::blockTimeout, then drop what the call brings.
  kDropNewest,  ///< Drop what the call brings; never wait.
  kDropOldest,  ///< Drop what waits longest in the calling thread's queue; never wait.
};

/// How a SummaryWriter names, buffers and writes. The defaults suit a training run.
struct WriterOptions {
  /// Appended to the name of the default directory; not used when a directory is given.
  std::string comment;

  /// Appended to the names of the event files.
  std::string filenameSuffix;

  /// Set when a run goes on from a checkpoint: TensorBoard forgets what earlier files of this run
  /// hold at this step or later. Applies to every sub-run as well.
  std::optional<std::int64_t> purgeStep;

  /// The form of scalars, histograms, images and sounds. What its field cannot hold is a tensor in
  /// either: several images of one tag and step, and histograms whose edges binary32 cannot tell
  /// apart, as TensorBoard's Python loader reads the field `histo` in binary32.
  ValueForm valueForm = ValueForm::kCompatible;

  /// Begins a new event file when one has grown to so many bytes, or has become so old; 0: never.
  /// The names sort, so readers take the files for one run. A file ends at the first write behind
  /// the limit, so it may be larger by what is written at once, 64 KiB or one large value.
  std::uint64_t maxFileBytes = 0;
  std::chrono::seconds maxFileAge = std::chrono::seconds(0);

  /// Longest time between a call and its bytes being handed to the system, and so the most that
  /// `kill -9` can take. One write(2) per period and file; below about 100 ms costs show.
  std::chrono::milliseconds flushPeriod = std::chrono::seconds(1);

  /// Bound on the memory of what is captured or encoded and not yet written. Scalars wait in a
  /// ring of 256 KiB per calling thread that does not count here.
  std::size_t queueBytes = std::size_t{64} << 20;

  OverflowPolicy overflow = OverflowPolicy::kBlock;

  /// How long a call may wait under OverflowPolicy::kBlock. Once a wait has run out, later calls do
  /// not wait again until there is room, so a dead file system stops training once, this long.
  std::chrono::milliseconds blockTimeout = std::chrono::seconds(1);

  /// How long flush() and close() wait for the disk.
  std::chrono::milliseconds flushTimeout = std::chrono::seconds(30);

  /// Scalars of one step that are made within this time of each other share one Event.
  std::chrono::milliseconds coalesceWindow = std::chrono::milliseconds(5);

  /// False makes a writer whose calls do nothing and that touches no file: for ranks that do not
  /// log.
  bool enabled = true;

  /// Told once for each episode of trouble: a disk that fills up, dropped points, an invalid tag.
  /// Called on any thread, the background one included; must not throw and must not call the
  /// writer. Default: one line to stderr.
  std::function<void(const Status&)> onError;

  /// Where wall times come from. Null: the system's clock, read through the cycle counter.
  std::shared_ptr<const Clock> clock;
};

/// What a writer has done so far.
struct WriterStats {
  std::uint64_t scalars = 0;       ///< Scalar points encoded.
  std::uint64_t values = 0;        ///< Histograms, images, texts and the like encoded.
  std::uint64_t events = 0;        ///< Records encoded, the files' first ones included.
  std::uint64_t bytesWritten = 0;  ///< Bytes that the system has taken.
  std::uint64_t files = 0;         ///< Event files created, sub-runs included.
  std::uint64_t droppedScalars =
      0;  ///< Points lost to OverflowPolicy or to a disk that stayed full.
  std::uint64_t droppedValues = 0;    ///< Other values lost in these ways.
  std::uint64_t retries = 0;          ///< Writes that had to be tried again.
  std::uint64_t stepRegressions = 0;  ///< Values whose step lies before their tag's last one.
};

}  // namespace steptape
