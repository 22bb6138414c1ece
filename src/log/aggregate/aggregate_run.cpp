// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "steptape/base/status.h"
#include "steptape/log/aggregate.h"
#include "steptape/log/run_reader.h"
#include "steptape/log/summary_writer.h"

#include "base/text.h"
#include "log/aggregate/statistics.h"

namespace steptape {
namespace {

using detail::base::counted;
using detail::log::AggregateStatistic;

/// Returns the minimum number of runs with a tag: a single run only if the caller wants it.
std::size_t fewestRuns(const AggregateOptions& options) {
  return options.minRuns > 0 ? static_cast<std::size_t>(options.minRuns) : 2;
}

using RunsByTag = std::map<std::string, std::vector<const ScalarColumns*>>;

RunsByTag runsByTag(const std::vector<RunReader>& runs, const AggregateOptions& options) {
  RunsByTag byTag;
  for (const RunReader& run : runs) {
    for (const auto& [tag, series] : run.tags()) {
      if (series.scalars.size() > 0) {
        byTag[tag].push_back(&series.scalars);
      }
    }
  }
  for (auto tag = byTag.begin(); tag != byTag.end();) {
    const bool isWanted = !options.wantsTag || options.wantsTag(tag->first);
    tag = isWanted ? std::next(tag) : byTag.erase(tag);
  }
  return byTag;
}

void checkRuns(const std::vector<RunReader>& runs, const AggregateOptions& options) {
  if (runs.size() < fewestRuns(options)) {
    throw Error(ErrorCode::kInvalidArgument, "aggregate: got " + counted(runs.size(), "run") +
                                                 "; expected at least " +
                                                 std::to_string(fewestRuns(options)));
  }
}

void checkTags(const std::vector<std::string>& tags, const AggregateOptions& options) {
  if (tags.empty()) {
    const std::size_t runs = fewestRuns(options);
    throw Error(ErrorCode::kInvalidArgument,
                "aggregate: got no scalar tag that " + counted(runs, "run") +
                    (runs == 1 ? " has" : " have") + "; expected at least 1");
  }
}

void checkConflicts(const std::vector<std::string>& tags,
                    const std::vector<AggregateConflict>& conflicts) {
  if (tags.empty()) {
    const AggregateConflict& first = conflicts.front();
    throw Error(ErrorCode::kInvalidArgument,
                "aggregate: the name '" + first.name + "' is needed for '" + first.tag +
                    "' and for '" + first.otherTag +
                    "', and no other tag is left; select one of them, in the tool by --tag");
  }
}

void checkDirectory(const std::string& directory) {
  const std::vector<std::string> files = listEventFiles(directory);
  if (!files.empty()) {
    throw Error(ErrorCode::kFailedPrecondition,
                "aggregate: " + directory + " holds " + counted(files.size(), "event file") +
                    "; expected a directory without any, since a run is aggregated once");
  }
}

/// Options that drop no point, however slow the disk is.
WriterOptions patientOptions() {
  WriterOptions options;
  options.blockTimeout = std::chrono::hours(24);
  options.flushTimeout = std::chrono::hours(24);
  return options;
}

void write(SummaryWriter& writer, const AggregateSeries& series,
           const std::vector<AggregateStatistic>& statistics) {
  for (const AggregateStatistic& statistic : statistics) {
    const std::string tag = series.tag + statistic.suffix;
    ScalarOptions options;
    for (const AggregatePoint& point : series.points) {
      if (point.runs > 1 || !statistic.needsSeveralRuns) {
        options.wallTime = point.wallTime;
        writer.addScalar(tag, statistic.value(point), point.step, options);
      }
    }
  }
}

void describe(SummaryWriter& writer, const std::vector<RunReader>& runs) {
  std::vector<std::string> directories;
  directories.reserve(runs.size());
  for (const RunReader& run : runs) {
    directories.push_back(run.directory());
  }
  writer.addTextTable("aggregated runs", directories, 0);
}

}  // namespace

AggregateResult aggregateRuns(const std::vector<RunReader>& runs, const std::string& directory,
                              const AggregateOptions& options) {
  checkRuns(runs, options);
  const std::vector<AggregateStatistic> statistics = detail::log::statisticsOf(options);
  AggregateResult result;
  std::vector<std::string> tags;
  const RunsByTag byTag = runsByTag(runs, options);
  for (const auto& [tag, columns] : byTag) {
    const bool hasEnough = columns.size() >= fewestRuns(options);
    (hasEnough ? tags : result.tagsLeftOut).push_back(tag);
  }
  checkTags(tags, options);
  result.conflicts = detail::log::takeConflicts(statistics, &tags);
  checkConflicts(tags, result.conflicts);
  checkDirectory(directory);
  SummaryWriter writer(directory, patientOptions());
  describe(writer, runs);
  if (options.band != AggregateBand::kNone) {
    writer.addCustomScalars(detail::log::bandCharts(tags, options));
  }
  for (const std::string& tag : tags) {
    AggregateSeries series = aggregateScalars(byTag.at(tag), options);
    series.tag = tag;
    write(writer, series, statistics);
    if (!series.points.empty()) {
      series.points = {series.points.back()};
    }
    result.series.push_back(std::move(series));
  }
  writer.close().throwIfError();
  return result;
}

}  // namespace steptape
