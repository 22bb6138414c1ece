// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "steptape/log/run_reader.h"

namespace steptape::test {

using Points = std::vector<std::pair<std::int64_t, float>>;
using PointsByTag = std::map<std::string, Points>;

/// Reads one run.
inline RunReader readRun(const RunFiles& run) {
  RunReader reader(run);
  reader.update();
  return reader;
}

/// Returns the scalars of the run `name`, relative to `logDir`.
inline PointsByTag readPoints(const std::string& logDir, const std::string& name = ".") {
  PointsByTag points;
  for (const RunFiles& run : listRuns(logDir)) {
    if (run.name != name) {
      continue;
    }
    const RunReader reader = readRun(run);
    for (const auto& [tag, series] : reader.tags()) {
      for (std::size_t i = 0; i < series.scalars.size(); ++i) {
        points[tag].emplace_back(series.scalars.steps[i],
                                 static_cast<float>(series.scalars.values[i]));
      }
    }
  }
  return points;
}

/// Returns the values that are not scalars, in the run at `logDir` itself, by tag and in the order
/// of writing.
inline std::map<std::string, std::vector<event::Value>> readValues(const std::string& logDir) {
  std::map<std::string, std::vector<event::Value>> valuesByTag;
  for (const RunFiles& run : listRuns(logDir)) {
    if (run.name != ".") {
      continue;
    }
    const RunReader reader = readRun(run);
    for (const auto& [tag, series] : reader.tags()) {
      for (const ValueLocation& location : series.values) {
        reader.value(location, &valuesByTag[tag].emplace_back()).throwIfError();
      }
    }
  }
  return valuesByTag;
}

}  // namespace steptape::test
