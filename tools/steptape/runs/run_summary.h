// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "steptape/log/run_reader.h"

#include "log/reader/series_parts.h"
#include "tools/steptape/runs/name_filter.h"

namespace steptape::tools {

/// Statistics of a scalar series.
struct ScalarSummary {
  double first = 0;
  double last = 0;
  double least = 0;    ///< NaN only if all values are.
  double largest = 0;  ///< As `least`.
  std::size_t notFinite = 0;
};

/// When values were logged; NaN if no value has a time.
struct TimeSpan {
  double first = std::numeric_limits<double>::quiet_NaN();  ///< @units Seconds since 1970, UTC.
  double last = std::numeric_limits<double>::quiet_NaN();   ///< @units Seconds since 1970, UTC.

  bool isKnown() const { return first <= last; }
};

/// One kind of value under a tag of a run.
struct TagSummary {
  std::string tag;
  detail::log::SeriesPart part;  ///< Of the reader; never empty.
  std::int64_t firstStep = 0;    ///< Of the first point written.
  std::int64_t lastStep = 0;
  TimeSpan span;
  std::optional<ScalarSummary> scalars;  ///< Of a scalar series.
  std::string contents;                  ///< Of any other series: the last value in words.

  std::size_t points() const { return part.size(); }
};

struct FileSummary {
  std::string path;
  std::uint64_t bytes = 0;
  std::vector<Damage> damage;
};

/// The content that `steptape inspect` shows of a run.
struct RunSummary {
  std::string directory;
  std::vector<FileSummary> files;
  std::vector<TagSummary> tags;  ///< In order; only tags that match the filter.
  std::size_t tagCount = 0;      ///< Number of distinct tags in `tags`.
  std::size_t points = 0;        ///< Of `tags`.
  std::uint64_t bytes = 0;       ///< Of all files.
  TimeSpan span;                 ///< Of all points of `tags`.
  /// What a reader of the tables should know: tags with several kinds of values, rounded integers.
  std::vector<std::string> notes;
};

/// REQUIRES: `run` has been read; it outlives the result, unchanged.
RunSummary summarize(const RunReader& run, const NamePattern& tags);

}  // namespace steptape::tools
