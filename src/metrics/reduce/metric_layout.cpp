// SPDX-License-Identifier: Apache-2.0
#include "metrics/reduce/metric_layout.h"

#include <algorithm>

namespace steptape::detail::metrics {

const std::shared_ptr<const MetricLayout>& MetricLayout::none() {
  static const auto kNone = std::make_shared<const MetricLayout>();
  return kNone;
}

std::shared_ptr<const MetricLayout> MetricLayout::of(const std::vector<QueuedMetric>& queued,
                                                     const TagTable& tags) {
  auto layout = std::make_shared<MetricLayout>();
  for (const QueuedMetric& metric : queued) {
    layout->metrics.push_back({tags.nameOf(metric.tagId), metric.statistics, metric.tagId});
  }
  std::sort(layout->metrics.begin(), layout->metrics.end(),
            [](const Metric& a, const Metric& b) { return a.tag < b.tag; });
  std::uint8_t statistics = 0;
  for (const Metric& metric : layout->metrics) {
    if (metric.tagId >= layout->placeByTag.size()) {
      layout->placeByTag.resize(metric.tagId + std::size_t{1}, kNowhere);
    }
    layout->placeByTag[metric.tagId] = static_cast<std::uint32_t>(layout->notes.size());
    layout->notes.push_back(static_cast<std::uint8_t>(kQueued | metric.statistics));
    layout->fingerprint.add(metric.tag, metric.statistics);
    statistics = static_cast<std::uint8_t>(statistics | metric.statistics);
  }
  layout->needsMoments = (statistics & kNeedMoments) != 0;
  layout->needsRankValues = (statistics & kRankValues) != 0;
  return layout;
}

bool MetricLayout::isOf(const std::vector<QueuedMetric>& queued) const {
  return queued.size() == metrics.size() &&
         std::all_of(queued.begin(), queued.end(), [this](const QueuedMetric& metric) {
           const std::uint32_t place = placeOf(metric.tagId);
           return place != kNowhere && metrics[place].statistics == metric.statistics;
         });
}

}  // namespace steptape::detail::metrics
