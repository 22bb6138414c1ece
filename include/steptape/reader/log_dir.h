// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "steptape/base/export.h"
#include "steptape/base/status.h"
#include "steptape/reader/run_files.h"
#include "steptape/reader/run_reader.h"

namespace steptape {

/// Reads all runs in and below a log directory, and follows them while they are written: new
/// points, new files, new runs.
///
///     LogDir log("runs");
///     log.update();  // again later: what is new
///     for (const auto& [name, run] : log.runs()) {
///       for (const auto& [tag, series] : run.tags()) {
///         show(name, tag, series);
///       }
///     }
///
/// Nothing that was read is lost: a run whose directory is removed keeps its points, and
/// RunReader::damage() names the files that are gone. When the directory is there again, reading
/// goes on with what is new in it.
///
/// @threads Not thread-safe: one thread at a time. Distinct objects may run concurrently.
/// @cost    Memory as RunReader for each run. No file stays open.
class STEPTAPE_EXPORT LogDir {
 public:
  /// Reads nothing yet.
  ///
  /// @param path    A log directory, a run's directory, or one event file, as for listRuns(). It
  ///                need not be there yet.
  /// @param options For each run; but `threads` and `onProgress` are for all runs together:
  ///                `onProgress` is called on the thread of update(), with the bytes of all runs.
  /// @param wants   Whether a run is to be read. Asked at each update() for each run that is not;
  ///                empty: all are.
  /// @throws Error(kInvalidArgument) as RunReader for its options.
  explicit LogDir(std::string path, RunReaderOptions options = {},
                  std::function<bool(const RunFiles& run)> wants = {});
  LogDir(LogDir&&) noexcept;
  LogDir& operator=(LogDir&&) noexcept;
  ~LogDir();

  /// Looks for new runs, and reads what was written to all of them since the last call. Does not
  /// throw for what it finds or misses: see lastError() and RunReader::damage().
  ///
  /// With several threads, each reads another one of the new runs, and runs that outweigh the
  /// others are read by all threads together. What is read does not depend on the number of
  /// threads.
  ///
  /// @return the bytes read; 0 if there was nothing new.
  /// @throws std::bad_alloc, and what `onProgress` throws, once all threads have stopped. The next
  ///         call then reads the runs that are not whole again.
  /// @cost   Lists every directory below `path` and asks for the size of every event file, however
  ///         little is new: some 20 us for a run of one file on a local disk.
  std::uint64_t update();

  /// By RunFiles::name. References stay valid as long as this object, those into RunReader::tags()
  /// until the next update(). A run is listed from its first event file on.
  const std::map<std::string, RunReader>& runs() const;

  /// Why the last update() could not look for new runs, kIoError, such as a directory that is not
  /// there (yet). It went on reading the runs that were known.
  const Status& lastError() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace steptape
