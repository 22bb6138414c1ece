// SPDX-License-Identifier: Apache-2.0
#include "distributed/metric_reducer.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "steptape/base/error.h"

namespace steptape::detail {
namespace {

std::uint8_t statisticsOf(const ReducedOptions& options) {
  return static_cast<std::uint8_t>((options.min ? kMinimum : 0) | (options.max ? kMaximum : 0) |
                                   (options.std ? kDeviation : 0) |
                                   (options.argmaxRank ? kArgmaxRank : 0));
}

void checkArguments(std::string_view tag, double weight) {
  if (tag.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "addReduced: the tag is empty");
  }
  if (!std::isfinite(weight) || weight < 0) {
    throw Error(ErrorCode::kInvalidArgument, "addReduced: the weight of '" + std::string(tag) +
                                                 "' is " + std::to_string(weight) +
                                                 ", want a finite number, 0 or more");
  }
}

}  // namespace

MetricReducer::MetricReducer(std::shared_ptr<Communicator> communicator)
    : communicator_(std::move(communicator)) {}

void MetricReducer::add(std::string_view tag, double value, std::int64_t step,
                        const ReducedOptions& options) {
  checkArguments(tag, options.weight);
  queue_.add(step, {tags_.idOf(tag), statisticsOf(options), options.wallTime,
                    MetricMoments::of(value, options.weight, communicator_->rank())});
}

const std::vector<ReducedMetric>& MetricReducer::reduce(std::int64_t step) {
  StepMetrics taken = queue_.take(step);
  const std::vector<QueuedMetric>& metrics = taken.metrics();
  sortByTag(metrics);
  reduced_.clear();
  for (const std::uint32_t position : sortedOrder_) {
    reduced_.push_back({metrics[position], metrics[position].moments});
  }
  queue_.recycle(std::move(taken));

  const double fingerprint = fingerprint_.at(step);
  allreduceSlots(fingerprint);
  if (!ranksAgree()) {
    throwMismatch(step);
  }
  if (reduced_.size() >= capacity_) {
    while (reduced_.size() >= capacity_) {
      capacity_ *= 2;
    }
    allreduceSlots(fingerprint);
  }
  for (std::size_t i = 0; i < reduced_.size(); ++i) {
    reduced_[i].total = slots_[i + 1];
  }
  return reduced_;
}

void MetricReducer::sortByTag(const std::vector<QueuedMetric>& metrics) {
  if (isSortedAlready(metrics)) {
    return;
  }
  schema_.clear();
  for (const QueuedMetric& metric : metrics) {
    schema_.push_back({metric.tagId, metric.statistics});
  }
  const auto tagAt = [this](std::uint32_t at) -> const std::string& {
    return tags_.nameOf(schema_[at].tagId);
  };
  sortedOrder_.resize(metrics.size());
  std::iota(sortedOrder_.begin(), sortedOrder_.end(), std::uint32_t{0});
  std::sort(sortedOrder_.begin(), sortedOrder_.end(),
            [&tagAt](std::uint32_t a, std::uint32_t b) { return tagAt(a) < tagAt(b); });
  fingerprint_ = {};
  for (const std::uint32_t position : sortedOrder_) {
    fingerprint_.add(tagAt(position), schema_[position].statistics);
  }
}

bool MetricReducer::isSortedAlready(const std::vector<QueuedMetric>& metrics) const {
  return std::equal(metrics.begin(), metrics.end(), schema_.begin(), schema_.end(),
                    [](const QueuedMetric& metric, const SchemaEntry& entry) {
                      return metric.tagId == entry.tagId && metric.statistics == entry.statistics;
                    });
}

void MetricReducer::allreduceSlots(double fingerprint) {
  slots_.assign(capacity_, MetricMoments());
  slots_.front() = MetricMoments::of(fingerprint, 1, communicator_->rank());
  // What does not fit is left out here and comes with the next attempt.
  const std::size_t count = std::min(reduced_.size(), capacity_ - 1);
  for (std::size_t i = 0; i < count; ++i) {
    slots_[i + 1] = reduced_[i].own.moments;
  }
  communicator_->allreduce(Span<MetricMoments>(slots_));
}

void MetricReducer::throwMismatch(std::int64_t step) {
  MetricSchema mine;
  mine.step = step;
  mine.nodeName = communicator_->nodeName();
  for (const ReducedMetric& metric : reduced_) {
    mine.metrics.push_back({tags_.nameOf(metric.own.tagId), metric.own.statistics});
  }
  // All ranks start anew, also those whose metrics wait for other steps.
  reduced_.clear();
  queue_.clear();

  std::vector<MetricSchema> schemaByRank;
  for (const std::string& bytes : communicator_->allgather(mine.encode())) {
    schemaByRank.push_back(MetricSchema::decode(bytes));
  }
  throw Error(ErrorCode::kRankMismatch, describeMismatch(schemaByRank));
}

}  // namespace steptape::detail
