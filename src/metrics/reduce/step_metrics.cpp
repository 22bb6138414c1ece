// SPDX-License-Identifier: Apache-2.0
#include "metrics/reduce/step_metrics.h"

#include <algorithm>
#include <utility>

namespace steptape::detail::metrics {
namespace {

template <typename T>
void growTo(std::vector<T>& values, std::size_t size) {
  if (values.size() < size) {
    values.resize(size);
  }
}

}  // namespace

StepMetrics::StepMetrics(std::shared_ptr<const MetricLayout> layout)
    : layout_(std::move(layout)),
      notes_(layout_->size(), 0),
      sums_(SumsMessage::at(layout_->size())),
      moments_(MomentsMessage::at(layout_->size())) {}

bool StepMetrics::add(QueuedMetric metric, const MetricMoments& moments,
                      std::optional<double> wallTime) {
  const std::size_t place = placeOf(metric.tagId);
  if (wallTime) {
    growTo(wallTimes_, notes_.size());
  }
  // Nothing throws from here on.
  const bool isFirst = notes_[place] == 0;
  notes_[place] =
      static_cast<std::uint8_t>(notes_[place] | MetricLayout::kQueued | metric.statistics);
  MetricMoments& own = moments_[MomentsMessage::at(place)];
  if (isFirst) {
    ++size_;
    own = moments;
  } else {
    own.merge(moments);
  }
  double* const sums = &sums_[SumsMessage::at(place)];
  sums[0] = own.weight;
  sums[1] = own.weightedSum;
  if (wallTime) {
    wallTimes_[place] = wallTime;
  }
  return isFirst;
}

std::size_t StepMetrics::placeOf(std::uint32_t tagId) {
  const std::uint32_t known = layout_->placeOf(tagId);
  if (known != MetricLayout::kNowhere) {
    return known;
  }
  growTo(positionInAdded_, tagId + std::size_t{1});
  std::uint32_t& position = positionInAdded_[tagId];
  if (position >= added_.size() || added_[position] != tagId) {
    const std::size_t places = layout_->size() + added_.size() + 1;
    growTo(notes_, places);
    growTo(sums_, SumsMessage::at(places));
    growTo(moments_, MomentsMessage::at(places));
    added_.push_back(tagId);  // last: it makes the place known
    position = static_cast<std::uint32_t>(added_.size() - 1);
  }
  return layout_->size() + position;
}

QueuedMetric StepMetrics::metricAt(std::size_t place) const {
  const std::uint32_t tagId =
      place < layout_->size() ? layout_->metrics[place].tagId : added_[place - layout_->size()];
  return {tagId, static_cast<std::uint8_t>(notes_[place] & ~unsigned{MetricLayout::kQueued})};
}

std::vector<QueuedMetric> StepMetrics::metrics() const {
  std::vector<QueuedMetric> metrics;
  for (std::size_t place = 0; place < notes_.size(); ++place) {
    if (notes_[place] != 0) {
      metrics.push_back(metricAt(place));
    }
  }
  return metrics;
}

StepMetrics StepMetrics::laidOutAs(std::shared_ptr<const MetricLayout> layout) const {
  StepMetrics result(std::move(layout));
  for (std::size_t place = 0; place < notes_.size(); ++place) {
    if (notes_[place] != 0) {
      result.add(metricAt(place), moments(place),
                 place < wallTimes_.size() ? wallTimes_[place] : std::nullopt);
    }
  }
  return result;
}

ArrayView<double> StepMetrics::sumsMessage(double fingerprint, std::size_t capacity) {
  growTo(sums_, SumsMessage::size(capacity));
  FingerprintParts(fingerprint).store(sums_.data());
  return {sums_.data(), SumsMessage::size(capacity)};
}

ArrayView<MetricMoments> StepMetrics::momentsMessage(double fingerprint, int rank,
                                                     std::size_t capacity) {
  growTo(moments_, MomentsMessage::size(capacity));
  moments_.front() = MetricMoments::of(fingerprint, 1, rank);
  return {moments_.data(), MomentsMessage::size(capacity)};
}

void StepMetrics::clear() noexcept {
  added_.clear();
  if (notes_.size() > layout_->size()) {
    notes_.resize(layout_->size());
    std::fill(sums_.data() + SumsMessage::at(notes_.size()), sums_.data() + sums_.size(), 0.0);
    std::fill(moments_.data() + MomentsMessage::at(notes_.size()),
              moments_.data() + moments_.size(), MetricMoments());
  }
  std::fill(notes_.begin(), notes_.end(), std::uint8_t{0});
  wallTimes_.clear();
  size_ = 0;
}

}  // namespace steptape::detail::metrics
