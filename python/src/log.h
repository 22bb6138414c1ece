// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nanobind/nanobind.h>
#include <shared_mutex>
#include <string>
#include <vector>

#include "steptape/log/log_dir.h"

#include "log/reader/series_parts.h"

namespace steptape::python {

namespace nb = nanobind;

/// A log directory that several Python threads may use.
///
/// @threads Thread-safe. Calls wait for other threads without the GIL.
class Log {
 public:
  /// @param wants Called with a run's name, returns whether to read it; None: read all runs.
  Log(std::string path, RunReaderOptions options, nb::object wants);

  /// Calls LogDir::update() without the GIL. Checks for signals meanwhile, so that Ctrl-C ends it.
  ///
  /// @param progress Called with the bytes read so far, several times per second; may be None.
  /// @return the bytes read.
  /// @throws nb::python_error raised by a signal's handler or by `progress`; Error(kIoError) if the
  ///         directory cannot be read.
  std::uint64_t update(const nb::object& progress);

  /// Reads a value of `run` from its file, without the GIL.
  ///
  /// @throws Error(kIoError) or Error(kDataLoss) as RunReader::value().
  event::Value value(const RunReader& run, const ValueLocation& location) const;

  /// REQUIRES: no update() runs at the same time.
  const std::map<std::string, RunReader>& runs() const { return dir_.runs(); }
  /// REQUIRES: as runs().
  const std::vector<Damage>& unreadable() const { return dir_.unreadable(); }

 private:
  mutable std::shared_mutex mutex_;  // never locked by a thread that holds the GIL
  std::function<void(std::uint64_t bytes)> onProgress_;  // of the update() in progress
  LogDir dir_;
};

/// One kind of value under a tag of a run, at the time of the last update().
///
/// @threads Thread-compatible: const calls may run concurrently.
struct Series {
  std::shared_ptr<Log> log;
  const RunReader* run;
  std::string tag;
  std::shared_ptr<const TagSeries> points;  ///< The log's own, or a copy of the new points.
  bool isScalar;                            ///< Whether it is `points->scalars`; else the values.

  ::steptape::detail::log::SeriesPart part() const { return {points.get(), isScalar}; }
  const std::string& plugin() const { return part().plugin(); }
};

/// A run of a log.
struct Run {
  std::shared_ptr<Log> log;
  const RunReader* reader;
};

std::vector<Run> runsOf(const std::shared_ptr<Log>& log);
/// Returns the series ordered by tag, the scalars of a tag before its other kinds.
std::vector<Series> seriesOf(const Run& run);

/// Returns the files that the last update() found truncated or replaced, and read from their start.
std::vector<std::string> replacedFilesOf(const Log& log);

/// Reads new data and copies it, so that later calls do not change it.
std::vector<Series> readNew(const std::shared_ptr<Log>& log, const nb::object& progress);

}  // namespace steptape::python
