// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "steptape/events/plugin_content.h"
#include "steptape/log/run_reader.h"

namespace steptape::detail::log {

/// The values of one kind under a tag.
struct SeriesPart {
  const TagSeries* series = nullptr;
  bool isScalar = false;  ///< Whether it is `series->scalars`; else `series->values`.

  std::size_t size() const { return isScalar ? series->scalars.size() : series->values.size(); }
  std::size_t firstNew() const { return isScalar ? series->firstNewScalar : series->firstNewValue; }
  const std::string& plugin() const {
    static const std::string kScalars = event::kScalarsPlugin;
    return isScalar ? kScalars : series->metadata.pluginName;
  }
  /// Returns the kind in words.
  std::string kind() const {
    if (plugin().empty()) {
      return "tensors";
    }
    return plugin() == event::kScalarsPlugin && !isScalar ? "tensors of scalars" : plugin();
  }
};

/// Returns the kinds of values under a tag, scalars first: one for nearly every tag. A kind without
/// values is left out, except for that of a tag without any.
inline std::vector<SeriesPart> partsOf(const TagSeries& series) {
  std::vector<SeriesPart> parts;
  const auto add = [&](const SeriesPart& part) {
    if (part.size() > 0) {
      parts.push_back(part);
    }
  };
  add({&series, true});
  add({&series, false});
  for (const TagSeries& other : series.others) {
    add({&other, false});
  }
  if (parts.empty()) {
    parts.push_back({&series, series.metadata.pluginName == event::kScalarsPlugin});
  }
  return parts;
}

}  // namespace steptape::detail::log
