// SPDX-License-Identifier: Apache-2.0
#include "metrics/writer/rank_value_summaries.h"

#include "values/kinds/tag.h"

namespace steptape::detail::metrics {

void RankValueSummaries::describe(std::uint32_t tagId, const ReducedOptions& options) {
  if (options.percentiles.empty() && !options.perRankHistogram) {
    return;
  }
  if (tagId >= wantedByTag_.size()) {
    wantedByTag_.resize(tagId + std::size_t{1});
  }
  wantedByTag_[tagId].percentiles = options.percentiles;
  wantedByTag_[tagId].histogram = options.perRankHistogram;
}

void RankValueSummaries::add(SummaryWriter& writer, std::int64_t step, const std::string& tag,
                             std::uint32_t tagId, const std::vector<RankValue>& values,
                             std::optional<double> wallTime) const {
  const Wanted& wanted = wantedByTag_[tagId];
  ScalarOptions scalarOptions;
  scalarOptions.wallTime = wallTime;
  for (const double percentile : wanted.percentiles) {
    writer.addScalar(tag + values::percentileSuffix(percentile), percentileOf(values, percentile),
                     step, scalarOptions);
  }
  if (!wanted.histogram) {
    return;
  }
  std::vector<double> numbers;
  numbers.reserve(values.size());
  for (const RankValue& value : values) {
    numbers.push_back(value.value);
  }
  HistogramOptions options;
  options.wallTime = wallTime;
  // TensorBoard's own buckets grow by 10 %: values of different ranks would be in one bucket.
  options.bins = 30;
  writer.addHistogram(tag + "/ranks", numbers, step, options);
}

}  // namespace steptape::detail::metrics
