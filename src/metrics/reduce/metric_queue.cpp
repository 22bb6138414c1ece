// SPDX-License-Identifier: Apache-2.0
#include "metrics/reduce/metric_queue.h"

#include <string>
#include <utility>

#include "steptape/base/status.h"

namespace steptape::detail::metrics {

void MetricQueue::add(std::int64_t step, QueuedMetric metric, const MetricMoments& moments,
                      std::optional<double> wallTime) {
  auto found = metricsByStep_.find(step);
  if (found == metricsByStep_.end()) {
    if (size_ >= kMaxMetrics) {
      throw Error(
          ErrorCode::kFailedPrecondition,
          "addReduced: got more than " + std::to_string(kMaxMetrics) +
              " metrics without reduce(), the oldest for step " +
              std::to_string(metricsByStep_.begin()->first) +
              "; expected a call of reduce(step) on every rank for every step with metrics");
    }
    found = insert(step);
  }
  size_ += found->second.add(metric, moments, wallTime) ? 1 : 0;
}

MetricQueue::MetricsByStep::iterator MetricQueue::insert(std::int64_t step) {
  StepMetrics metrics;
  // If steps accumulate, they get memory only for the metrics that they have.
  if (metricsByStep_.empty() && spare_) {
    metrics = *std::exchange(spare_, std::nullopt);
  }
  if (spareNode_.empty()) {
    return metricsByStep_.emplace(step, std::move(metrics)).first;
  }
  spareNode_.key() = step;
  spareNode_.mapped() = std::move(metrics);
  return metricsByStep_.insert(std::move(spareNode_)).position;
}

StepMetrics MetricQueue::take(std::int64_t step) {
  const auto found = metricsByStep_.find(step);
  if (found == metricsByStep_.end()) {
    return StepMetrics();
  }
  spareNode_ = metricsByStep_.extract(found);
  StepMetrics metrics = std::move(spareNode_.mapped());
  size_ -= metrics.size();
  return metrics;
}

void MetricQueue::recycle(StepMetrics step) {
  step.clear();
  spare_ = std::move(step);
}

void MetricQueue::clear() {
  metricsByStep_.clear();
  size_ = 0;
}

}  // namespace steptape::detail::metrics
