// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/base/status.h"

namespace steptape {

/// One chart of the custom-scalars page: of lines, or of values within bands.
struct CustomScalarsChart {
  std::string title;
  /// Of a chart of lines: regular expressions of Python's `re`. Each matches from a tag's first
  /// character, as `re.match` does, so "loss" finds "loss/train" too and "loss$" does not.
  std::vector<std::string> tags;
  /// Of a margin chart: value, lower and upper tag of each band, exact tags.
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
  bool closed = false;  ///< Folded until a click opens it.
};

/// What the custom-scalars page shows of a run, from top to bottom.
struct CustomScalarsLayout {
  std::vector<CustomScalarsCategory> categories;
};

/// The layout as a serialized `tensorboard.Layout`.
///
/// @param layout REQUIRES: its texts are UTF-8, or TensorBoard refuses all of it. A chart with
///               margins is a margin chart; every other one is a chart of lines.
/// @threads Thread-safe.
/// @source  tensorboard/plugins/custom_scalar/layout.proto
STEPTAPE_EXPORT std::string encodeLayout(const CustomScalarsLayout& layout);

/// Reads what encodeLayout() or another writer wrote. Fields that the structs lack are skipped.
///
/// @return kDataLoss if `bytes` is not a layout; `*layout` is then unspecified.
/// @threads Thread-safe.
STEPTAPE_EXPORT Status decodeLayout(std::string_view bytes, CustomScalarsLayout* layout);

}  // namespace steptape
