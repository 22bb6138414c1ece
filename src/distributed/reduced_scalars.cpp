// SPDX-License-Identifier: Apache-2.0
#include "distributed/reduced_scalars.h"

#include <array>

namespace steptape::detail {
namespace {

struct StatisticSeries {
  std::uint8_t bit;  // 0: always written.
  const char* suffix;
  double (*valueOf)(const MetricMoments&);
};

constexpr std::array<StatisticSeries, 5> kStatistics{{
    {0, "", [](const MetricMoments& moments) { return moments.mean(); }},
    {kMinimum, "/min", [](const MetricMoments& moments) { return moments.min; }},
    {kMaximum, "/max", [](const MetricMoments& moments) { return moments.max; }},
    {kDeviation, "/std", [](const MetricMoments& moments) { return moments.std(); }},
    {kArgmaxRank, "/argmax_rank", [](const MetricMoments& moments) { return moments.maxRank; }},
}};

bool isWanted(const StatisticSeries& statistic, std::uint8_t wanted) {
  return statistic.bit == 0 || (statistic.bit & wanted) != 0;
}

}  // namespace

ReducedScalars::Series& ReducedScalars::seriesOf(std::uint32_t tagId) {
  if (tagId >= seriesByTag_.size()) {
    seriesByTag_.resize(tagId + std::size_t{1});
  }
  return seriesByTag_[tagId];
}

void ReducedScalars::describe(std::uint32_t tagId, const ReducedOptions& options) {
  if (options.displayName.empty() && options.description.empty()) {
    return;
  }
  Series& series = seriesOf(tagId);
  series.options.displayName = options.displayName;
  series.options.description = options.description;
}

void ReducedScalars::add(SummaryWriter& writer, const std::string& tag, const QueuedMetric& metric,
                         const MetricMoments& moments, std::int64_t step) {
  Series& series = seriesOf(metric.tagId);
  series.handles.resize(kStatistics.size());
  for (std::size_t i = 0; i < kStatistics.size(); ++i) {
    const StatisticSeries& statistic = kStatistics[i];
    if (!isWanted(statistic, metric.statistics)) {
      continue;
    }
    // A display name is the metric's: under each of its statistics it would name five charts alike.
    const ScalarOptions options = i == 0 ? series.options : ScalarOptions();
    if (metric.wallTime) {
      ScalarOptions timed = options;
      timed.wallTime = metric.wallTime;
      writer.addScalar(tag + statistic.suffix, statistic.valueOf(moments), step, timed);
      continue;
    }
    if ((series.known & (1U << i)) == 0) {
      series.handles[i] = writer.scalarTag(tag + statistic.suffix, options);
      series.known = static_cast<std::uint8_t>(series.known | (1U << i));
    }
    points_.emplace_back(series.handles[i], statistic.valueOf(moments));
  }
}

void ReducedScalars::writeStep(SummaryWriter& writer, std::int64_t step) {
  if (points_.empty()) {
    return;
  }
  StepBatch batch = writer.atStep(step);
  for (const auto& [tag, value] : points_) {
    batch.add(tag, value);
  }
  points_.clear();
}

}  // namespace steptape::detail
