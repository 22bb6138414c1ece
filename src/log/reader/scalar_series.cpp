// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "steptape/log/run_reader.h"

#include "base/got_expected.h"

namespace steptape {

RunScalars readRunScalars(const RunFiles& run) {
  RunReader reader(run);
  reader.update();
  RunScalars result;
  result.problems = reader.damage();
  for (const auto& [tag, series] : reader.tags()) {
    const ScalarColumns& columns = series.scalars;
    if (columns.size() == 0) {
      continue;
    }
    std::vector<ScalarPoint>& points = result.scalars[tag];
    points.reserve(columns.size());
    for (std::size_t i = 0; i < columns.size(); ++i) {
      points.push_back(
          {columns.wallTimes[i], columns.steps[i], static_cast<float>(columns.values[i])});
    }
  }
  return result;
}

ScalarsByTag readScalars(const std::string& path) {
  const std::vector<RunFiles> runs = listRuns(path);
  if (runs.size() != 1) {
    detail::base::reject(std::to_string(runs.size()) + " runs",
                         "one event file or the directory of one run",
                         "readScalars \"" + path + "\"");
  }
  RunScalars result = readRunScalars(runs.front());
  for (const Damage& problem : result.problems) {
    if (problem.outcome != ReadOutcome::kTruncated) {
      problem.status.throwIfError();
    }
  }
  return std::move(result.scalars);
}

}  // namespace steptape
