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
#include "steptape/events/event.h"
#include "steptape/events/record_reader.h"
#include "steptape/log/run_files.h"
#include "steptape/log/tag_series.h"

namespace steptape {

/// A range of bytes in a file that contains no whole event.
struct Damage {
  std::string path;
  std::uint64_t offset;
  std::uint64_t bytes;  ///< 0 if the file could not be read from `offset` on.
  /// kCorrupt: damage. kTruncated: the file ends inside a record, because its writer was killed or
  /// is still writing. kIoError: the operating system failed.
  ReadOutcome outcome;
  Status status;  ///< What failed, where, what was got and expected.
};

/// Which points are discarded, because a restarted program has written them again.
///
/// Files older than `brain.Event:2` have no restart events. There, a summary whose step is less
/// than that of the summary before it discards points of its tags at or after its step (except for
/// kNone).
enum class PurgePolicy {
  /// Each SessionLog START discards earlier-written points at or after its step, as in
  /// TensorBoard's class EventAccumulator.
  kRestarts,
  /// As kRestarts, except that the first START of a run discards nothing, as in TensorBoard's data
  /// server. (torch.utils.tensorboard writes no START before the first restart.)
  kTensorBoardServer,
  /// No point is discarded; the order is that of writing.
  kNone,
};

/// The most points of a series that are kept.
struct Sampling {
  /// The most points of a tag, by plugin; 0: all.
  std::map<std::string, std::size_t> maxPoints;
  /// The same for plugins that `maxPoints` does not contain; 0: all.
  std::size_t otherMaxPoints = 0;

  /// Returns the limits of TensorBoard's Python loader: 1000 scalars, 500 histograms, 100 PR
  /// curves, 10 of any other kind. The same points are kept, by the same random numbers, and always
  /// the last.
  STEPTAPE_EXPORT static Sampling tensorBoard();
};

struct RunReaderOptions {
  PurgePolicy purge = PurgePolicy::kRestarts;
  Sampling sampling = {};
  /// Whether a file that ends inside a record may still grow. If false, the bytes of an incomplete
  /// record are searched for whole records, as after any other damage.
  bool mayGrow = true;
  /// The most threads of one update(), including the caller's. REQUIRES: at least 1.
  int threads = 1;
  /// Called regularly on the thread of update(), with the bytes that this update() has read. An
  /// exception cancels the update(), which rethrows it.
  std::function<void(std::uint64_t bytes)> onProgress;
};

/// Reads all files of one run, and follows them while they are written:
///
///     RunReader run(listRuns("runs").front());
///     run.update();
///     const ScalarColumns& loss = run.tags().at("loss").scalars;
///
/// Keeps scalars in memory, and of all other values only the place in the file, so that a run of
/// images needs as little memory as a run of scalars. Reads every intact record: after damage it
/// continues at the next whole record.
///
/// @threads Not thread-safe: one thread at a time. Distinct readers may run concurrently.
/// @cost    One pass over new bytes; 24 bytes of memory per scalar, 40 per other value.
/// @source  docs/event_file_format.md, "Runs" and "Reading"
class STEPTAPE_EXPORT RunReader {
 public:
  explicit RunReader(RunFiles run, RunReaderOptions options = {});
  RunReader(RunReader&&) noexcept;
  RunReader& operator=(RunReader&&) noexcept;
  ~RunReader();

  /// Reads the data that was written since the last call, in known files and in new files of the
  /// run's directory. Never throws for the contents of files: see damage().
  ///
  /// If a known file was truncated, or replaced by another one of its name, the run is read again:
  /// see replacedFiles(). The points of that file and of later ones are then new.
  ///
  /// @return the bytes read; 0 if there was no new data.
  /// @throws std::bad_alloc, and any exception of `onProgress`; the next call then reads everything
  ///         again.
  std::uint64_t update();

  /// Returns the series by tag. References stay valid until the next update().
  const std::map<std::string, TagSeries>& tags() const;

  /// Returns all damage found so far, by file and offset. A file that ends inside a record is
  /// listed until that record is whole.
  const std::vector<Damage>& damage() const;

  /// Returns the files that the last update() found truncated or replaced, and has read from their
  /// start. A file counts as the same if its first and its last bytes that were read before are
  /// there: one that has only grown, such as a copy by rsync, continues.
  const std::vector<std::string>& replacedFiles() const;

  /// Reads a value back from its file.
  ///
  /// A graph (plugin "graphs") and run metadata are returned as a rank-0 kString tensor of the
  /// serialized message.
  ///
  /// @param location A location from this reader.
  /// @param value    Set on success.
  /// @return kIoError if the file can no longer be read; kDataLoss if its contents have changed, by
  ///         length, checksums, step and time.
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
