// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/log/run_files.h"
#include "steptape/log/run_reader.h"

namespace steptape {

/// One point of a scalar series.
struct ScalarPoint {
  double wallTime;  ///< Seconds since 1970-01-01 UTC.
  std::int64_t step;
  float value;  ///< Rounded to binary32; RunReader has doubles and large integers.
};

/// The points of each tag, in the order of writing.
using ScalarsByTag = std::map<std::string, std::vector<ScalarPoint>>;

/// The scalars of one run, and the damage that may have cost others.
struct RunScalars {
  ScalarsByTag scalars;
  std::vector<Damage> problems;
};

/// Reads the scalars of a run, from all its files, with the default options of RunReader.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT RunScalars readRunScalars(const RunFiles& run);

/// Reads the scalars of one event file or of the directory of one run.
///
/// A file that ends inside a record is not an error: its writer may still be running.
///
/// @throws Error(kIoError) if `path` cannot be read; Error(kDataLoss) with file and offset if a
///         file is damaged; Error(kInvalidArgument) if `path` contains no run or several runs.
/// @threads Thread-safe.
STEPTAPE_EXPORT ScalarsByTag readScalars(const std::string& path);

}  // namespace steptape
