// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "steptape/reader/run_reader.h"

#include "tools/steptape/runs/name_filter.h"

namespace steptape::tools {

/// The first step at which two series part.
struct Parting {
  std::int64_t step;
  /// Scalars' values there; none where the run has no point at that step, and for other plugins.
  std::array<std::optional<double>, 2> values;
};

/// What differs in a tag that both runs have.
struct TagDiff {
  std::string tag;
  std::string plugin;                 ///< The first run's.
  std::vector<std::string> metadata;  ///< "plugin: scalars, histograms"; empty: the same.
  std::optional<Parting> parting;     ///< None: the same points, or not to be compared.
  std::size_t differingPoints = 0;    ///< Steps at which they differ, from the first on.
  std::array<std::size_t, 2> points{};
  std::array<std::optional<double>, 2> lastValues;  ///< Scalars' only.

  bool isSame() const { return metadata.empty() && !parting; }
};

/// What tells two runs apart. Wall times do not count: no two runs share them.
struct RunDiff {
  std::array<std::vector<std::string>, 2> onlyIn;  ///< Tags of one run only.
  std::size_t commonTags = 0;
  std::vector<TagDiff> tags;  ///< Common ones that differ.

  bool isSame() const { return onlyIn[0].empty() && onlyIn[1].empty() && tags.empty(); }
};

/// Compares the tags in which `tag` is found.
///
/// @param tolerance Scalars count as the same if they are no further apart than that part of the
///                  larger one; NaN is the same as NaN.
/// @throws Error if a value cannot be read back.
RunDiff compareRuns(const RunReader& first, const RunReader& second, const NamePattern& tag,
                    double tolerance);

}  // namespace steptape::tools
