// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/base/status.h"
#include "steptape/event/event.h"
#include "steptape/reader/run_files.h"
#include "steptape/reader/tag_series.h"
#include "steptape/tfrecord/record_reader.h"

namespace steptape {

/// Bytes of a file that hold no whole event, between others that do or at the file's end.
struct Damage {
  std::string path;
  std::uint64_t offset;
  std::uint64_t bytes;  ///< 0 where the file could not be read from there on.
  /// kCorrupt: damage. kTruncated: the file ends inside a record, because its writer was killed or
  /// has not finished. kIoError: the system failed.
  ReadOutcome outcome;
  Status status;  ///< Says what, got, wanted and where.
};

/// Which points are left out, because a restarted program has written them again.
///
/// Files older than `brain.Event:2` have no restart events: there a summary whose step is before
/// that of the summary before it drops its tags' points at that step or later (not for kNone).
enum class PurgePolicy {
  /// Each SessionLog START drops what was read before it and has its step or a later one, as
  /// TensorBoard's class EventAccumulator has it.
  kRestarts,
  /// As TensorBoard's server, which drops nothing at the first START of a run, although torch
  /// writes none before the first restart.
  kTensorBoardServer,
  /// None: every point that was ever written, in the order of writing.
  kNone,
};

/// How many points of a series are kept.
struct Sampling {
  /// The most points of a tag, by its plugin; 0: all.
  std::map<std::string, std::size_t> maxPoints;
  /// For plugins that `maxPoints` does not name; 0: all.
  std::size_t otherMaxPoints = 0;

  /// What TensorBoard's Python loader keeps, chosen with the same random numbers: 1000 scalars, 500
  /// histograms, 100 PR curves, 10 of any other kind, and always the last.
  STEPTAPE_EXPORT static Sampling tensorBoard();
};

struct RunReaderOptions {
  PurgePolicy purge = PurgePolicy::kRestarts;
  Sampling sampling = {};
  /// Whether a file that ends inside a record may still get the rest of it. If not, what follows a
  /// record that is cut short is searched for whole ones too, as after any other damage.
  bool mayGrow = true;
  /// The most threads that one update() uses, the caller's included. REQUIRES: at least 1.
  int threads = 1;
  /// Called on the thread of update() now and then, with the bytes that this update() has read.
  /// What it throws cancels that update(), which rethrows it.
  std::function<void(std::uint64_t bytes)> onProgress;
};

/// Reads one run, all files of all plugins, and follows it while it is written:
///
///     RunReader run(listRuns("runs").front());
///     run.update();
///     const ScalarColumns& loss = run.tags().at("loss").scalars;
///
/// Scalars are kept in memory; of all other values only where they lie, so that a run of images
/// takes no more memory than a run of scalars. Whatever is intact is read: after damage, reading
/// goes on at the next whole record.
///
/// @threads Not thread-safe: one thread at a time. Distinct readers may run concurrently.
/// @cost    One pass over new bytes; 24 bytes of memory a scalar, 40 for any other value.
/// @source  docs/event_file_format.md, "Runs" and "Reading"
class STEPTAPE_EXPORT RunReader {
 public:
  explicit RunReader(RunFiles run, RunReaderOptions options = {});
  RunReader(RunReader&&) noexcept;
  RunReader& operator=(RunReader&&) noexcept;
  ~RunReader();

  /// Reads what was written since the last call, in known files and in new ones of the run's
  /// directory. Does not throw for what the files hold: see damage().
  ///
  /// @return the bytes read; 0 if there was nothing new.
  /// @throws std::bad_alloc, and what `onProgress` throws; the next call then reads everything
  ///         again.
  std::uint64_t update();

  /// By tag; references stay valid until the next update().
  const std::map<std::string, TagSeries>& tags() const;

  /// All damage found so far, in the order of files and offsets. A file that ends inside a record
  /// is listed until its next record is whole.
  const std::vector<Damage>& damage() const;

  /// Reads a value back from its file.
  ///
  /// A graph (plugin "graphs") and run metadata come as a rank-0 kString tensor that holds the
  /// serialized message.
  ///
  /// @param location One of this reader's.
  /// @return kIoError if the file cannot be read any more, kDataLoss if it holds something else
  ///         now: length, checksums, step and time are compared.
  /// @threads May run concurrently with itself.
  /// @cost    Opens the file, reads the record of the event, and decodes it.
  Status value(const ValueLocation& location, event::Value* value) const;

  const std::vector<std::string>& files() const;
  const std::string& name() const;
  const std::string& directory() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace steptape
