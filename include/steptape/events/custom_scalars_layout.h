// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/base/status.h"

namespace steptape {

/// One chart of the custom-scalars page: lines, or values within bands.
struct CustomScalarsChart {
  std::string title;
  /// For a chart of lines: regular expressions of Python's `re`. Each matches from the first
  /// character of a tag, as `re.match` does: "loss" matches "loss/train", "loss$" does not.
  std::vector<std::string> tags;
  /// For a margin chart: the exact tags of value, lower and upper bound of each band.
  std::vector<std::array<std::string, 3>> margins;

  /// Returns a chart with a line for each tag that a regular expression of `tags` matches.
  STEPTAPE_EXPORT static CustomScalarsChart multiline(std::string title,
                                                      std::vector<std::string> tags);
  /// Returns a chart of one value within a band. `tags` are value, lower and upper bound.
  STEPTAPE_EXPORT static CustomScalarsChart margin(std::string title,
                                                   std::array<std::string, 3> tags);
};

/// A group of charts under one title, which can be folded.
struct CustomScalarsCategory {
  std::string title;
  std::vector<CustomScalarsChart> charts;
  bool closed = false;  ///< Folded until a click opens it.
};

/// The custom-scalars page of a run, from top to bottom.
struct CustomScalarsLayout {
  std::vector<CustomScalarsCategory> categories;
};

/// Encodes the layout as a serialized `tensorboard.Layout`.
///
/// @param layout REQUIRES: all texts are UTF-8; else TensorBoard rejects the layout. A chart with
///               margins is a margin chart; every other chart is a chart of lines.
/// @threads Thread-safe.
/// @source  tensorboard/plugins/custom_scalar/layout.proto
STEPTAPE_EXPORT std::string encodeLayout(const CustomScalarsLayout& layout);

/// Decodes a layout of encodeLayout() or of another writer. Skips fields that the structs lack.
///
/// @return kDataLoss if `bytes` is not a layout; `*layout` is then unspecified.
/// @threads Thread-safe.
STEPTAPE_EXPORT Status decodeLayout(std::string_view bytes, CustomScalarsLayout* layout);

}  // namespace steptape
