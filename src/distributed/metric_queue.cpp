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

bool StepMetrics::add(QueuedMetric metric, const MetricMoments& moments,
                      std::optional<double> wallTime) {
  if (metric.tagId >= positionByTag_.size()) {
    positionByTag_.resize(metric.tagId + std::size_t{1});
  }
  hasWallTimes_ = hasWallTimes_ || wallTime;
  std::uint32_t& position = positionByTag_[metric.tagId];
  if (position < metrics_.size() && metrics_[position].tagId == metric.tagId) {
    metrics_[position].statistics |= metric.statistics;
    moments_[position].merge(moments);
    wallTimes_[position] = wallTime ? wallTime : wallTimes_[position];
    return false;
  }
  position = static_cast<std::uint32_t>(metrics_.size());
  metrics_.push_back(metric);
  moments_.push_back(moments);
  wallTimes_.push_back(wallTime);
  return true;
}

void StepMetrics::clear() {
  metrics_.clear();
  moments_.clear();
  wallTimes_.clear();
  hasWallTimes_ = false;
}

void MetricQueue::add(std::int64_t step, QueuedMetric metric, const MetricMoments& moments,
                      std::optional<double> wallTime) {
  auto found = metricsByStep_.find(step);
  if (found == metricsByStep_.end()) {
    if (size_ >= kMaxMetrics) {
      throw Error(ErrorCode::kFailedPrecondition,
                  "addReduced: " + std::to_string(size_) +
                      " metrics wait for reduce(), the oldest for step " +
                      std::to_string(metricsByStep_.begin()->first) +
                      ": call reduce(step) on every rank for every step that has metrics");
    }
    found = insert(step);
  }
  size_ += found->second.add(metric, moments, wallTime) ? 1 : 0;
}

MetricQueue::MetricsByStep::iterator MetricQueue::insert(std::int64_t step) {
  StepMetrics empty = std::exchange(spare_, StepMetrics());
  if (spareNode_.empty()) {
    return metricsByStep_.emplace(step, std::move(empty)).first;
  }
  spareNode_.key() = step;
  spareNode_.mapped() = std::move(empty);
  return metricsByStep_.insert(std::move(spareNode_)).position;
}

StepMetrics MetricQueue::take(std::int64_t step) {
  const auto found = metricsByStep_.find(step);
  if (found == metricsByStep_.end()) {
    return {};
  }
  spareNode_ = metricsByStep_.extract(found);
  StepMetrics metrics = std::move(spareNode_.mapped());
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
