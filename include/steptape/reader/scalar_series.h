// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/reader/run_files.h"
#include "steptape/reader/run_reader.h"

namespace steptape {

/// One value of a scalar series.
struct ScalarPoint {
  double wallTime;  ///< Seconds since 1970-01-01 UTC.
  std::int64_t step;
  float value;
};

/// The points of each tag, in the order in which they were written.
using ScalarsByTag = std::map<std::string, std::vector<ScalarPoint>>;

/// The scalars of one run, and what kept them from being complete.
struct RunScalars {
  ScalarsByTag scalars;
  std::vector<Damage> problems;
};

/// Reads and merges the scalars of a run's files: RunReader's, with its defaults, as points.
///
/// @threads Thread-safe.
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
