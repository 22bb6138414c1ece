// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "steptape/log/run_reader.h"

#include "tools/steptape/runs/name_filter.h"

namespace steptape::tools {

/// The first step at which two series differ.
struct Parting {
  std::int64_t step;
  /// The values of scalars at that step; none if the run has no point there, and for other plugins.
  std::array<std::optional<double>, 2> values;
};

/// The differences in a tag that both runs have, of one kind of its values.
struct TagDiff {
  std::string tag;
  std::string plugin;                 ///< The first run's.
  bool isScalar = false;              ///< Whether it compares scalars.
  std::vector<std::string> metadata;  ///< "plugin: scalars, histograms"; empty: equal.
  std::optional<Parting> parting;     ///< None: equal points, or not comparable.
  std::size_t differingPoints = 0;    ///< Number of steps at which they differ.
  std::array<std::size_t, 2> points{};
  std::array<std::optional<double>, 2> lastValues;  ///< Of scalars only.
  std::vector<std::string> textLines;  ///< Of texts: how they differ there; see lineDiff().

  bool isSame() const { return metadata.empty() && !parting; }
};

/// The differences between two runs. Wall times are ignored, because they always differ.
struct RunDiff {
  /// Tags that one run has; and "tag (histograms)" for a kind of values of a tag of both runs that
  /// only one has, while they have another in common.
  std::array<std::vector<std::string>, 2> onlyIn;
  std::size_t commonTags = 0;
  std::vector<TagDiff> tags;  ///< Tags of both runs that differ.

  bool isSame() const { return onlyIn[0].empty() && onlyIn[1].empty() && tags.empty(); }
};

/// Compares the tags that match `tag`.
///
/// @param tolerance Scalars are equal up to this share of the larger one; NaN equals NaN.
/// @throws Error if a value cannot be read.
RunDiff compareRuns(const RunReader& first, const RunReader& second, const NamePattern& tag,
                    double tolerance);

}  // namespace steptape::tools
