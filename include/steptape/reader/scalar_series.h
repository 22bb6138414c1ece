// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/base/status.h"
#include "steptape/reader/log_dir.h"
#include "steptape/record/record_reader.h"

namespace steptape {

/// One value of a scalar series.
struct ScalarPoint {
  double wallTime;  ///< Seconds since 1970-01-01 UTC.
  std::int64_t step;
  float value;
};

/// The points of each tag, in the order in which they were written.
using ScalarsByTag = std::map<std::string, std::vector<ScalarPoint>>;

/// Where an event file could not be read to its end. What lies before `offset` was read.
struct FileProblem {
  std::string path;
  std::uint64_t offset;
  /// kTruncated: the file ends inside a record, because its writer was killed or has not finished.
  /// kCorrupt: damage. kIoError: the system failed.
  ReadOutcome outcome;
  Status status;  ///< Says what, got, wanted and where.
};

/// The scalars of one run, and what kept them from being complete.
struct RunScalars {
  ScalarsByTag scalars;
  std::vector<FileProblem> problems;  ///< At most one per file.
};

/// Reads and merges the scalars of a run's files.
///
/// A legacy `simple_value` and a tensor of the plugin "scalars" are the same to it; of a tensor
/// that holds several numbers, or none, nothing is taken. Where a file begins with a restart
/// (SessionLog::Status::kStart), the points of earlier files at its step or later are dropped: the
/// restarted program has written them again.
///
/// @threads Thread-safe.
/// @cost    One pass over the files; memory for the points, 24 bytes each, and the largest record.
/// @source  docs/event_file_format.md, "Runs"
STEPTAPE_EXPORT RunScalars readRunScalars(const RunFiles& run);

/// Reads the scalars of one event file or of one run's directory.
///
/// A file that ends inside a record counts as read: it may still be written.
///
/// @throws Error(kIoError) if `path` cannot be read, Error(kDataLoss) with file and offset if a
///         file is damaged, Error(kInvalidArgument) if `path` holds no run or several.
/// @threads Thread-safe.
STEPTAPE_EXPORT ScalarsByTag readScalars(const std::string& path);

}  // namespace steptape
