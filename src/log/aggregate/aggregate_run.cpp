// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <utility>

#include "steptape/base/clock.h"
#include "steptape/base/status.h"
#include "steptape/events/event.h"
#include "steptape/log/aggregate.h"
#include "steptape/log/run_reader.h"

#include "base/text.h"
#include "log/aggregate/prepare_aggregate.h"
#include "log/aggregate/statistics.h"
#include "log/writer/whole_run.h"
#include "values/kinds/plot/custom_scalars.h"
#include "values/kinds/tag.h"
#include "values/kinds/text.h"

namespace steptape {
namespace {

using detail::base::counted;
using detail::log::AggregateStatistic;
using detail::log::WholeRun;

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

void write(const AggregateSeries& series, const std::vector<AggregateStatistic>& statistics,
           WholeRun* output) {
  detail::values::checkTag(series.tag);
  for (const AggregateStatistic& statistic : statistics) {
    event::Value value;
    value.tag = series.tag + statistic.suffix;
    for (const AggregatePoint& point : series.points) {
      if (point.runs > 1 || !statistic.needsSeveralRuns) {
        value.data = static_cast<float>(statistic.value(point));
        output->add({point.wallTime, point.step, event::Summary{{value}}, ""});
      }
    }
  }
}

/// Writes values that belong to the whole run.
void describe(const std::vector<RunReader>& runs, const std::vector<std::string>& tags,
              const AggregateOptions& options, WholeRun* output) {
  const double now = Clock::system().wallSeconds();
  std::vector<std::string> directories;
  directories.reserve(runs.size());
  for (const RunReader& run : runs) {
    directories.push_back(run.directory());
  }
  event::Value table =
      detail::values::textTableValue("aggregated runs", detail::values::textTable(directories));
  output->add({now, 0, event::Summary{{std::move(table)}}, ""});
  if (options.band != AggregateBand::kNone) {
    const CustomScalarsLayout layout = detail::log::bandCharts(tags, options);
    detail::values::checkLayout(layout);
    output->add({now, 0, event::Summary{{detail::values::customScalarsValue(layout)}}, ""});
  }
}

}  // namespace

AggregateResult aggregateRuns(const std::vector<RunReader>& runs, const std::string& directory,
                              const AggregateOptions& options) {
  WholeRun output(directory, "aggregate");
  AggregateResult result = detail::log::prepareAggregate(runs, options, &output);
  output.appear();
  return result;
}

AggregateResult detail::log::prepareAggregate(const std::vector<RunReader>& runs,
                                              const AggregateOptions& options, WholeRun* output) {
  checkRuns(runs, options);
  const std::vector<AggregateStatistic> statistics = statisticsOf(options);
  AggregateResult result;
  std::vector<std::string> tags;
  const RunsByTag byTag = runsByTag(runs, options);
  for (const auto& [tag, columns] : byTag) {
    const bool hasEnough = columns.size() >= fewestRuns(options);
    (hasEnough ? tags : result.tagsLeftOut).push_back(tag);
  }
  checkTags(tags, options);
  result.conflicts = takeConflicts(statistics, &tags);
  checkConflicts(tags, result.conflicts);
  describe(runs, tags, options, output);
  for (const std::string& tag : tags) {
    AggregateSeries series = aggregateScalars(byTag.at(tag), options);
    series.tag = tag;
    write(series, statistics, output);
    if (!series.points.empty()) {
      series.points = {series.points.back()};
    }
    result.series.push_back(std::move(series));
  }
  output->finish();
  return result;
}

}  // namespace steptape
