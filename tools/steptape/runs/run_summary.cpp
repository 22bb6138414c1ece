// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/runs/run_summary.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>

#include "tools/steptape/tables/value_text.h"

namespace steptape::tools {
namespace {

/// REQUIRES: `scalars` is not empty.
ScalarSummary summaryOf(const ScalarColumns& scalars) {
  const double first = scalars.values.front();
  ScalarSummary summary{first, scalars.values.back(), first, first, 0};
  for (const double value : scalars.values) {
    // Skips NaN, as joined() does.
    summary.least = std::fmin(summary.least, value);
    summary.largest = std::fmax(summary.largest, value);
    summary.notFinite += std::isfinite(value) ? 0 : 1;
  }
  return summary;
}

/// Returns the shortest span that contains both. A NaN limit is unknown: fmin() and fmax() of a
/// number and NaN return the number.
TimeSpan joined(const TimeSpan& left, const TimeSpan& right) {
  return {std::fmin(left.first, right.first), std::fmax(left.last, right.last)};
}

TimeSpan spanOf(const ScalarColumns& scalars) {
  TimeSpan span;
  for (const double wallTime : scalars.wallTimes) {
    span = joined(span, {wallTime, wallTime});
  }
  return span;
}

TimeSpan spanOf(const std::vector<ValueLocation>& values) {
  TimeSpan span;
  for (const ValueLocation& value : values) {
    span = joined(span, {value.wallTime, value.wallTime});
  }
  return span;
}

std::string contentsOf(const RunReader& run, const TagSeries& series) {
  event::Value last;
  const Status status = run.value(series.values.back(), &last);
  return status.ok() ? describeValue(last, series.metadata) : "not readable: " + status.message();
}

/// REQUIRES: `series` is not empty.
TagSummary summaryOf(const RunReader& run, const std::string& tag, const TagSeries& series) {
  TagSummary summary;
  summary.tag = tag;
  summary.series = &series;
  if (series.values.empty()) {
    summary.firstStep = series.scalars.steps.front();
    summary.lastStep = series.scalars.steps.back();
    summary.span = spanOf(series.scalars);
    summary.scalars = summaryOf(series.scalars);
  } else {
    summary.firstStep = series.values.front().step;
    summary.lastStep = series.values.back().step;
    summary.span = spanOf(series.values);
    summary.contents = contentsOf(run, series);
  }
  return summary;
}

FileSummary summaryOf(const RunReader& run, const std::string& path) {
  FileSummary file;
  file.path = path;
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  file.bytes = error ? 0 : bytes;
  for (const Damage& damage : run.damage()) {
    if (damage.path == path) {
      file.damage.push_back(damage);
    }
  }
  return file;
}

}  // namespace

RunSummary summarize(const RunReader& run, const NamePattern& tags) {
  RunSummary summary;
  summary.directory = run.directory();
  for (const std::string& path : run.files()) {
    summary.files.push_back(summaryOf(run, path));
    summary.bytes += summary.files.back().bytes;
  }
  for (const auto& [tag, series] : run.tags()) {
    // A restart may have discarded all points of a tag.
    if (series.size() == 0 || !tags.isFoundIn(tag)) {
      continue;
    }
    const TagSummary& added = summary.tags.emplace_back(summaryOf(run, tag, series));
    summary.points += added.points();
    summary.span = joined(summary.span, added.span);
  }
  return summary;
}

}  // namespace steptape::tools
