// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/base/status.h"
#include "steptape/log/run_reader.h"

namespace steptape {

/// Reads all runs in and below a log directory, and follows new points, new files and new runs.
///
///     LogDir log("runs");
///     log.update();  // again later: reads new data
///     for (const auto& [name, run] : log.runs()) {
///       for (const auto& [tag, series] : run.tags()) {
///         show(name, tag, series);
///       }
///     }
///
/// A run whose directory is removed keeps its points, and RunReader::damage() names the missing
/// files. When the directory reappears, reading continues with new data in it, and files of the
/// same names with other content are read from their start: see RunReader::replacedFiles().
///
/// @threads Not thread-safe: one thread at a time. Distinct objects may run concurrently.
/// @cost    Memory as RunReader, for each run. No file stays open.
class STEPTAPE_EXPORT LogDir {
 public:
  /// Stores its arguments; update() reads.
  ///
  /// @param path    A log directory, the directory of a run, or one event file, as for listRuns().
  ///                It need not exist yet.
  /// @param options Options of each run. `threads` and `onProgress` apply to all runs together:
  ///                update() calls `onProgress` on its thread, with the bytes of all runs.
  /// @param wants   Selects runs: each update() calls it for each run that is not read yet. Empty:
  ///                all runs are read.
  /// @throws Error(kInvalidArgument) if the options are invalid, as RunReader.
  explicit LogDir(std::string path, RunReaderOptions options = {},
                  std::function<bool(const RunFiles& run)> wants = {});
  LogDir(LogDir&&) noexcept;
  LogDir& operator=(LogDir&&) noexcept;
  ~LogDir();

  /// Finds new runs, and reads the data that was written to all runs since the last call. Never
  /// throws for missing or damaged files: see lastError() and RunReader::damage().
  ///
  /// With several threads, each reads a different new run, and all threads read large runs
  /// together. The result does not depend on the number of threads.
  ///
  /// @return the bytes read; 0 if there was no new data.
  /// @throws std::bad_alloc, and any exception of `onProgress`, after all threads have stopped. The
  ///         next call reads incomplete runs again.
  /// @cost   Lists every directory below `path` and queries the size of every event file, even if
  ///         nothing is new: about 20 us for a run of one file on a local disk.
  std::uint64_t update();

  /// Returns the runs by RunFiles::name. References stay valid as long as this object, and those
  /// into RunReader::tags() until the next update(). A run appears with its first event file.
  const std::map<std::string, RunReader>& runs() const;

  /// Returns kIoError with the reason if the last update() could not look for new runs, such as a
  /// missing directory. It still read the known runs.
  const Status& lastError() const;

  /// Returns the directories below the log directory that the last update() could not read, as
  /// listRuns() does.
  const std::vector<Damage>& unreadable() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace steptape
