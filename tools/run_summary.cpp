// SPDX-License-Identifier: Apache-2.0
#include "tools/run_summary.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>

#include "tools/value_text.h"

namespace steptape::tools {
namespace {

ScalarSummary summaryOf(const std::vector<double>& values) {
  ScalarSummary summary{values.front(), values.back(), values.front(), values.front(), 0};
  for (const double value : values) {
    // These take the other one of a number and NaN.
    summary.least = std::fmin(summary.least, value);
    summary.largest = std::fmax(summary.largest, value);
    summary.notFinite += std::isfinite(value) ? 0 : 1;
  }
  return summary;
}

TimeSpan spanOf(const std::vector<double>& wallTimes) {
  const auto [first, last] = std::minmax_element(wallTimes.begin(), wallTimes.end());
  return {*first, *last};
}

TimeSpan spanOf(const std::vector<ValueLocation>& values) {
  const auto [first, last] = std::minmax_element(
      values.begin(), values.end(), [](const ValueLocation& left, const ValueLocation& right) {
        return left.wallTime < right.wallTime;
      });
  return {first->wallTime, last->wallTime};
}

std::string contentsOf(const RunReader& run, const TagSeries& series) {
  Value last;
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
    summary.span = spanOf(series.scalars.wallTimes);
    summary.scalars = summaryOf(series.scalars.values);
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
    // A restart may have purged all points of a tag.
    if (series.size() == 0 || !tags.isFoundIn(tag)) {
      continue;
    }
    const TagSummary& added = summary.tags.emplace_back(summaryOf(run, tag, series));
    summary.points += added.points();
    summary.span = summary.span ? TimeSpan{std::min(summary.span->first, added.span.first),
                                           std::max(summary.span->last, added.span.last)}
                                : added.span;
  }
  return summary;
}

}  // namespace steptape::tools
