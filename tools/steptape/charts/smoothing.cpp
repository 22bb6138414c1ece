// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/charts/smoothing.h"

#include <algorithm>
#include <cmath>

namespace steptape::tools {

std::vector<double> smoothed(const std::vector<double>& values, double weight) {
  const double past = std::clamp(weight, 0.0, 1.0);
  const bool isConstant = std::all_of(values.begin(), values.end(),
                                      [&](double value) { return value == values.front(); });
  if (past == 0 || isConstant) {
    return values;
  }
  std::vector<double> result = values;
  double average = 0;
  int count = 0;
  for (double& value : result) {
    if (!std::isfinite(value)) {
      continue;
    }
    average = average * past + (1 - past) * value;
    ++count;
    // The initial zero still has the weight past^count.
    value = average / (past == 1 ? 1 : 1 - std::pow(past, count));
  }
  return result;
}

}  // namespace steptape::tools
