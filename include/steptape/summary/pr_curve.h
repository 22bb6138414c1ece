// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/event/event.h"
#include "steptape/summary/tensor_view.h"

namespace steptape {

/// Options of addPrCurve() and addPrCurveRaw().
struct PrCurveOptions {
  std::optional<double> wallTime = std::nullopt;
  std::string displayName = {};
  std::string description = {};
  int numThresholds = 127;                           ///< Not used by addPrCurveRaw().
  std::optional<TensorView> weights = std::nullopt;  ///< As many as labels; not used by …Raw().
};

/// A precision-recall curve that is already counted, one element per threshold.
struct PrCurveCounts {
  std::vector<double> truePositives = {};
  std::vector<double> falsePositives = {};
  std::vector<double> trueNegatives = {};
  std::vector<double> falseNegatives = {};
  std::vector<double> precision = {};
  std::vector<double> recall = {};
};

}  // namespace steptape
