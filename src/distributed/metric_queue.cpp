// SPDX-License-Identifier: Apache-2.0
#include "distributed/metric_queue.h"

#include <utility>

#include "steptape/base/error.h"

namespace steptape::detail {

std::uint32_t TagTable::idOf(std::string_view tag) {
  const auto known = idByName_.find(tag);
  if (known != idByName_.end()) {
    return known->second;
  }
  const auto id = static_cast<std::uint32_t>(names_.size());
  names_.emplace_back(tag);
  idByName_.emplace(names_.back(), id);
  return id;
}

bool StepMetrics::add(const QueuedMetric& metric) {
  if (metric.tagId >= positionByTag_.size()) {
    positionByTag_.resize(metric.tagId + std::size_t{1}, -1);
  }
  std::int32_t& position = positionByTag_[metric.tagId];
  if (position < 0) {
    position = static_cast<std::int32_t>(metrics_.size());
    metrics_.push_back(metric);
    return true;
  }
  QueuedMetric& queued = metrics_[static_cast<std::size_t>(position)];
  queued.statistics |= metric.statistics;
  queued.wallTime = metric.wallTime ? metric.wallTime : queued.wallTime;
  queued.moments.merge(metric.moments);
  return false;
}

void StepMetrics::clear() {
  for (const QueuedMetric& metric : metrics_) {
    positionByTag_[metric.tagId] = -1;
  }
  metrics_.clear();
}

void MetricQueue::add(std::int64_t step, const QueuedMetric& metric) {
  auto found = metricsByStep_.find(step);
  if (found == metricsByStep_.end()) {
    if (size_ >= kMaxMetrics) {
      throw Error(ErrorCode::kFailedPrecondition,
                  "addReduced: " + std::to_string(size_) +
                      " metrics wait for reduce(), the oldest for step " +
                      std::to_string(metricsByStep_.begin()->first) +
                      ": call reduce(step) on every rank for every step that has metrics");
    }
    found = metricsByStep_.emplace(step, std::exchange(spare_, StepMetrics())).first;
  }
  size_ += found->second.add(metric) ? 1 : 0;
}

StepMetrics MetricQueue::take(std::int64_t step) {
  const auto found = metricsByStep_.find(step);
  if (found == metricsByStep_.end()) {
    return {};
  }
  StepMetrics metrics = std::move(found->second);
  metricsByStep_.erase(found);
  size_ -= metrics.metrics().size();
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

}  // namespace steptape::detail
