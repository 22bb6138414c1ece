// SPDX-License-Identifier: Apache-2.0
#include "metrics/writer/reduced_scalars.h"

#include <optional>
#include <string>
#include <utility>

namespace steptape::detail::metrics {
namespace {

struct StatisticSeries {
  std::uint8_t bit;  // 0: always written
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

/// Reports, once per run, a metric whose weights are 0 on all ranks.
void reportMissing(const MetricTotals& totals, log::DeferredScalars::Sink& sink) {
  for (std::size_t place = 0; place < totals.layout->size(); ++place) {
    if (!totals.hasValue(place)) {
      sink.reportOnce(
          "a metric without a value",
          "reduce: no rank had a value of '" + totals.layout->metrics[place].tag + "' at step " +
              std::to_string(totals.step) +
              ", all weights are 0: no point is written. Further cases are not reported");
      return;
    }
  }
}

}  // namespace

ScalarOptions ReducedScalars::optionsOf(std::uint32_t tagId, std::size_t series) const {
  // Only the mean has the display name: under each statistic, it would give many charts the same
  // name.
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

ScalarTag ReducedScalars::handleOf(SummaryWriter& writer, const Metric& metric,
                                   std::size_t series) {
  if (metric.tagId >= seriesByTag_.size()) {
    seriesByTag_.resize(metric.tagId + std::size_t{1});
  }
  Series& known = seriesByTag_[metric.tagId];
  if ((known.known & (1U << series)) == 0) {
    known.handles[series] =
        writer.scalarTag(metric.tag + kStatistics[series].suffix, optionsOf(metric.tagId, series));
    known.known = static_cast<std::uint8_t>(known.known | (1U << series));
  }
  return known.handles[series];
}

std::shared_ptr<const ReducedScalars::Points> ReducedScalars::pointsOf(SummaryWriter& writer,
                                                                       const MetricLayout& layout) {
  static_assert(kStatistics.size() == kSeries);
  auto points = std::make_shared<Points>();
  for (std::uint32_t place = 0; place < layout.size(); ++place) {
    const Metric& metric = layout.metrics[place];
    for (std::uint32_t series = 0; series < kSeries; ++series) {
      const std::uint8_t bit = kStatistics[series].bit;
      if (bit == 0 || (of_ == Of::kJob && (bit & metric.statistics) != 0)) {
        points->push_back({place, series, handleOf(writer, metric, series)});
      }
    }
  }
  return points;
}

void ReducedScalars::write(SummaryWriter& writer, std::shared_ptr<const MetricTotals> totals) {
  if (totals->layout != layout_) {
    points_ = pointsOf(writer, *totals->layout);
    layout_ = totals->layout;
  }
  if (addAtOnce(writer, *points_, *totals)) {
    return;
  }
  const std::int64_t step = totals->step;
  const std::size_t bytes = totals->bytes();
  log::DeferredScalars::add(
      writer, step, points_->size(), bytes,
      [points = points_, totals = std::move(totals), of = of_](log::DeferredScalars::Sink& sink) {
        // Metrics with an explicit time come first: each time is a separate event.
        if (!totals->wallTimes.empty()) {
          addPoints(*points, *totals, true, sink);
        }
        addPoints(*points, *totals, false, sink);
        if (of == Of::kJob) {
          reportMissing(*totals, sink);
        }
      });
}

bool ReducedScalars::addAtOnce(SummaryWriter& writer, const Points& points,
                               const MetricTotals& totals) {
  // Memory for the deferred data is allocated here and freed on another thread, which costs more
  // than these points.
  constexpr std::size_t kFew = 48;
  if (points.size() > kFew || !totals.wallTimes.empty()) {
    return false;
  }
  for (std::size_t place = 0; place < totals.layout->size(); ++place) {
    if (!totals.hasValue(place)) {
      return false;
    }
  }
  StepBatch batch = writer.atStep(totals.step);
  for (const Point& point : points) {
    batch.add(point.tag, kStatistics[point.series].valueOf(totals.at(point.place)));
  }
  return true;
}

void ReducedScalars::addPoints(const Points& points, const MetricTotals& totals, bool ownWallTimes,
                               log::DeferredScalars::Sink& sink) {
  for (const Point& point : points) {
    const std::optional<double> wallTime = totals.wallTime(point.place);
    if (wallTime.has_value() == ownWallTimes && totals.hasValue(point.place)) {
      sink.add(point.tag, kStatistics[point.series].valueOf(totals.at(point.place)), wallTime);
    }
  }
}

}  // namespace steptape::detail::metrics
