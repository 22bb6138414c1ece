// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/event/event.h"

namespace steptape {

/// One chart of the custom-scalars page.
struct CustomScalarsChart {
  std::string title;
  std::vector<std::string> tags;  ///< Regular expressions, of a multiline chart.
  /// Value, lower and upper tag of each band, of a margin chart.
  std::vector<std::array<std::string, 3>> margins;

  /// A chart with a line for each tag that a regular expression of `tags` matches.
  STEPTAPE_EXPORT static CustomScalarsChart multiline(std::string title,
                                                      std::vector<std::string> tags);
  /// A chart of one value within a band: {value, lower, upper}, three tags.
  STEPTAPE_EXPORT static CustomScalarsChart margin(std::string title,
                                                   std::array<std::string, 3> tags);
};

/// Charts under one title that folds.
struct CustomScalarsCategory {
  std::string title;
  std::vector<CustomScalarsChart> charts;
};

/// What the custom-scalars page shows of a run.
struct CustomScalarsLayout {
  std::vector<CustomScalarsCategory> categories;
};

}  // namespace steptape
