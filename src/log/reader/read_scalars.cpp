// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "steptape/log/run_reader.h"

#include "base/got_expected.h"

namespace steptape {

ScalarsByTag readScalars(const std::string& path) {
  const std::vector<RunFiles> runs = listRuns(path);
  if (runs.size() != 1) {
    detail::base::reject(std::to_string(runs.size()) + " runs",
                         "one event file or the directory of one run",
                         "readScalars \"" + path + "\"");
  }
  RunReader run(runs.front());
  run.update();
  for (const Damage& damage : run.damage()) {
    if (damage.outcome != ReadOutcome::kTruncated) {
      damage.status.throwIfError();
    }
  }
  ScalarsByTag scalars;
  for (const auto& [tag, series] : run.tags()) {
    const ScalarColumns& columns = series.scalars;
    if (columns.size() == 0) {
      continue;
    }
    std::vector<ScalarPoint>& points = scalars[tag];
    points.reserve(columns.size());
    for (std::size_t i = 0; i < columns.size(); ++i) {
      points.push_back(
          {columns.wallTimes[i], columns.steps[i], static_cast<float>(columns.values[i])});
    }
  }
  return scalars;
}

}  // namespace steptape
