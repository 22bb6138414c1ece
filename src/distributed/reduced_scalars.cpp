// SPDX-License-Identifier: Apache-2.0
#include "distributed/reduced_scalars.h"

namespace steptape::detail {
namespace {

struct StatisticSeries {
  std::uint8_t bit;  // 0: always written.
  const char* suffix;
  double (*valueOf)(const MetricMoments&);
};

constexpr std::array<StatisticSeries, 6> kStatistics{{
    {0, "", [](const MetricMoments& moments) { return moments.mean(); }},
    {kMinimum, "/min", [](const MetricMoments& moments) { return moments.min; }},
    {kMaximum, "/max", [](const MetricMoments& moments) { return moments.max; }},
    {kDeviation, "/std", [](const MetricMoments& moments) { return moments.std(); }},
    {kArgmaxRank, "/argmax_rank", [](const MetricMoments& moments) { return moments.maxRank; }},
    {kSum, "/sum", [](const MetricMoments& moments) { return moments.weightedSum; }},
}};

}  // namespace

ReducedScalars::Series& ReducedScalars::seriesOf(std::uint32_t tagId) {
  static_assert(kStatistics.size() == kSeries);
  if (tagId >= seriesByTag_.size()) {
    seriesByTag_.resize(tagId + std::size_t{1});
  }
  return seriesByTag_[tagId];
}

ScalarOptions ReducedScalars::optionsOf(std::uint32_t tagId, std::size_t series) const {
  // A display name is the metric's: under each of its statistics it would name many charts alike.
  return series == 0 && tagId < optionsByTag_.size() ? optionsByTag_[tagId] : ScalarOptions();
}

void ReducedScalars::describe(std::uint32_t tagId, const ReducedOptions& options) {
  if (options.displayName.empty() && options.description.empty()) {
    return;
  }
  if (tagId >= optionsByTag_.size()) {
    optionsByTag_.resize(tagId + std::size_t{1});
  }
  optionsByTag_[tagId].displayName = options.displayName;
  optionsByTag_[tagId].description = options.description;
}

void ReducedScalars::add(SummaryWriter& writer, StepBatch& batch, std::int64_t step,
                         const std::string& tag, const QueuedMetric& metric,
                         const MetricMoments& moments, std::optional<double> wallTime) {
  Series& series = seriesOf(metric.tagId);
  for (std::size_t i = 0; i < kSeries; ++i) {
    const StatisticSeries& statistic = kStatistics[i];
    if (statistic.bit != 0 && (statistic.bit & metric.statistics) == 0) {
      continue;
    }
    if (wallTime) {
      ScalarOptions timed = optionsOf(metric.tagId, i);
      timed.wallTime = wallTime;
      writer.addScalar(tag + statistic.suffix, statistic.valueOf(moments), step, timed);
      continue;
    }
    if ((series.known & (1U << i)) == 0) {
      series.handles[i] = writer.scalarTag(tag + statistic.suffix, optionsOf(metric.tagId, i));
      series.known = static_cast<std::uint8_t>(series.known | (1U << i));
    }
    batch.add(series.handles[i], statistic.valueOf(moments));
  }
}

}  // namespace steptape::detail
