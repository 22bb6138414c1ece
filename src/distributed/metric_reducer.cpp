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
  const bool hasRankValues = options.perRankHistogram || !options.percentiles.empty();
  return static_cast<std::uint8_t>(
      (options.min || options.band ? kMinimum : 0) | (options.max || options.band ? kMaximum : 0) |
      (options.std ? kDeviation : 0) | (options.argmaxRank ? kArgmaxRank : 0) |
      (options.sum ? kSum : 0) | (hasRankValues ? kRankValues : 0));
}

void checkArguments(std::string_view tag, const ReducedOptions& options) {
  if (tag.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "addReduced: the tag is empty");
  }
  if (!std::isfinite(options.weight) || options.weight < 0) {
    throw Error(ErrorCode::kInvalidArgument, "addReduced: the weight of '" + std::string(tag) +
                                                 "' is " + std::to_string(options.weight) +
                                                 ", want a finite number, 0 or more");
  }
  for (const double percentile : options.percentiles) {
    if (!(percentile >= 0 && percentile <= 100)) {
      throw Error(ErrorCode::kInvalidArgument, "addReduced: a percentile of '" + std::string(tag) +
                                                   "' is " + std::to_string(percentile) +
                                                   ", want 0 to 100");
    }
  }
}

CollectiveOptions reduceOptions() {
  CollectiveOptions options;
  options.name = "reduce";
  options.compareRanks = false;
  return options;
}

}  // namespace

MetricReducer::MetricReducer(std::shared_ptr<Communicator> communicator)
    : communicator_(std::move(communicator)), collectiveOptions_(reduceOptions()) {}

std::uint32_t MetricReducer::add(std::string_view tag, double value, std::int64_t step,
                                 const ReducedOptions& options) {
  checkArguments(tag, options);
  const std::uint32_t tagId = tags_.idOf(tag);
  queue_.add(step, {tagId, statisticsOf(options)},
             MetricMoments::of(value, options.weight, communicator_->rank()), options.wallTime);
  return tagId;
}

void MetricReducer::start(std::int64_t step) {
  queue_.recycle(std::move(taken_));
  taken_ = queue_.take(step);
  sortByTag(taken_.metrics());
  step_ = step;
  fingerprint_ = schemaFingerprint_.at(step);

  isUnderWay_ = true;
  const bool hasRoom = fits();
  const bool sendsRankValues = sendsRankValues_ || !needsRankValues_;
  postAllreduce();
  if (sendsRankValues_) {
    postRankValues();
  }
  // Ranks that disagree may differ in whether they look already here; finish() tells all of them.
  if ((hasRoom && sendsRankValues) || !wait()) {
    return;
  }
  if (!hasRoom) {
    grow();
    postAllreduce();
  }
  if (!sendsRankValues) {
    postRankValues();
  }
}

bool MetricReducer::wait() {
  // Where a wait throws, nothing is left that could be finished.
  isUnderWay_ = false;
  allreduce_.wait();
  allgather_.wait();
  isUnderWay_ = true;
  return agrees();
}

void MetricReducer::finish() {
  if (!wait()) {
    throwMismatch();
  }
  isUnderWay_ = false;
  sendsRankValues_ = needsRankValues_;
}

MetricMoments MetricReducer::total(std::size_t at) const {
  if (sendsMoments_) {
    return moments_[at + 1];
  }
  MetricMoments moments;
  moments.weight = totalWeight(at);
  moments.weightedSum = totalWeightedSum(at);
  return moments;
}

void MetricReducer::sortByTag(const std::vector<QueuedMetric>& metrics) {
  if (isSortedAlready(metrics)) {
    return;
  }
  schema_ = metrics;
  const auto tagAt = [this](std::uint32_t at) -> const std::string& {
    return tags_.nameOf(schema_[at].tagId);
  };
  sortedOrder_.resize(metrics.size());
  std::iota(sortedOrder_.begin(), sortedOrder_.end(), std::uint32_t{0});
  std::sort(sortedOrder_.begin(), sortedOrder_.end(),
            [&tagAt](std::uint32_t a, std::uint32_t b) { return tagAt(a) < tagAt(b); });
  schemaFingerprint_ = {};
  std::uint8_t statistics = 0;
  for (const std::uint32_t position : sortedOrder_) {
    schemaFingerprint_.add(tagAt(position), schema_[position].statistics);
    statistics |= schema_[position].statistics;
  }
  needsMoments_ = (statistics & kNeedMoments) != 0;
  needsRankValues_ = (statistics & kRankValues) != 0;
}

bool MetricReducer::isSortedAlready(const std::vector<QueuedMetric>& metrics) const {
  return std::equal(metrics.begin(), metrics.end(), schema_.begin(), schema_.end(),
                    [](const QueuedMetric& a, const QueuedMetric& b) {
                      return a.tagId == b.tagId && a.statistics == b.statistics;
                    });
}

void MetricReducer::postAllreduce() {
  if (sendsMoments_) {
    postMoments();
  } else {
    postSums();
  }
}

void MetricReducer::postSums() {
  sums_.resize(sumsAt(capacity_ - 1));
  FingerprintParts(fingerprint_).store(sums_.data());
  double* to = sums_.data() + sumsAt(0);
  for (std::size_t i = 0; i < fittingCount(); ++i) {
    *to++ = own(i).weight;
    *to++ = own(i).weightedSum;
  }
  std::fill(to, sums_.data() + sums_.size(), 0.0);
  allreduce_ =
      communicator_->allreduceAsync(Span<double>(sums_), ReduceOp::kSum, collectiveOptions_);
}

void MetricReducer::postMoments() {
  moments_.assign(capacity_, MetricMoments());
  moments_.front() = MetricMoments::of(fingerprint_, 1, communicator_->rank());
  for (std::size_t i = 0; i < fittingCount(); ++i) {
    moments_[i + 1] = own(i);
  }
  allreduce_ = communicator_->allreduceAsync(Span<MetricMoments>(moments_), collectiveOptions_);
}

void MetricReducer::postRankValues() {
  ownValues_.clear();
  for (std::size_t i = 0; i < size(); ++i) {
    if ((metric(i).statistics & kRankValues) != 0) {
      appendRankValue(ownValues_, own(i));
    }
  }
  allgather_ = communicator_->allgatherAsync(ownValues_, valuesByRank_, collectiveOptions_);
}

bool MetricReducer::agrees() const {
  if (sendsMoments_) {
    return moments_.front().min == moments_.front().max;
  }
  return FingerprintParts(fingerprint_).areThoseOfAll(sums_.data(), communicator_->size());
}

void MetricReducer::grow() {
  while (size() >= capacity_) {
    capacity_ *= 2;
  }
  sendsMoments_ = sendsMoments_ || needsMoments_;
}

void MetricReducer::throwMismatch() {
  MetricSchema mine;
  mine.step = step_;
  mine.nodeName = communicator_->nodeName();
  for (std::size_t i = 0; i < size(); ++i) {
    mine.metrics.push_back({tags_.nameOf(metric(i).tagId), metric(i).statistics});
  }
  // All ranks start anew, also those whose metrics wait for other steps.
  isUnderWay_ = false;
  sendsRankValues_ = false;
  queue_.clear();

  std::vector<MetricSchema> schemaByRank;
  for (const std::string& bytes : communicator_->allgather(mine.encode())) {
    schemaByRank.push_back(MetricSchema::decode(bytes));
  }
  throw Error(ErrorCode::kRankMismatch, describeMismatch(schemaByRank));
}

}  // namespace steptape::detail
