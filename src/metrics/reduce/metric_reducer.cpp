// SPDX-License-Identifier: Apache-2.0
#include "metrics/reduce/metric_reducer.h"

#include <cmath>
#include <utility>

#include "steptape/base/status.h"

#include "base/got_expected.h"

namespace steptape::detail::metrics {
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
    base::reject("an empty tag", "a name such as \"loss/train\"", "addReduced");
  }
  const std::string where = "addReduced " + base::quoted(tag);
  if (!std::isfinite(options.weight) || options.weight < 0) {
    base::reject("weight " + std::to_string(options.weight), "a finite number of at least 0",
                 where);
  }
  if (options.wallTime && !std::isfinite(*options.wallTime)) {
    base::reject("wall time " + std::to_string(*options.wallTime), "finite seconds since 1970",
                 where);
  }
  for (const double percentile : options.percentiles) {
    if (!(percentile >= 0 && percentile <= 100)) {
      base::reject("percentile " + std::to_string(percentile), "0 to 100", where);
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

std::uint32_t MetricReducer::idOf(std::string_view tag, const ReducedOptions& options) {
  checkArguments(tag, options);
  return tags_.idOf(tag);
}

void MetricReducer::add(std::uint32_t tagId, double value, std::int64_t step,
                        const ReducedOptions& options) {
  queue_.add(step, {tagId, statisticsOf(options)},
             MetricMoments::of(value, options.weight, communicator_->rank()), options.wallTime);
}

void MetricReducer::start(std::int64_t step) {
  StepMetrics metrics = queue_.take(step);
  queue_.recycle(std::exchange(taken_, std::move(metrics)));
  step_.number = step;
  step_.stage = Stage::kLayOut;
  step_.isUnderWay = true;
  advance();
}

void MetricReducer::advance() {
  while (step_.stage != Stage::kWait) {
    step_.stage = pass(step_.stage);
  }
}

MetricReducer::Stage MetricReducer::pass(Stage stage) {
  switch (stage) {
    case Stage::kLayOut:
      layOut();
      step_.fingerprint = layout_->fingerprint.at(step_.number);
      totals_ = pool_->take();
      totals_->layout = layout_;
      totals_->step = step_.number;
      totals_->wallTimes = taken_.wallTimes();
      step_.fitted = format_.fits(*layout_);
      step_.sentRankValues = format_.sendsRankValues || !layout_->needsRankValues;
      return Stage::kAllreduce;
    case Stage::kAllreduce:
      postAllreduce();
      return Stage::kRankValues;
    case Stage::kRankValues:
      if (format_.sendsRankValues) {
        postRankValues();
      }
      return step_.fitted && step_.sentRankValues ? Stage::kWait : Stage::kLookWhetherItFits;
    case Stage::kLookWhetherItFits:
      // Ranks that disagree may also differ in whether they check here; finish() reports it.
      if (!compare()) {
        return Stage::kWait;
      }
      format_.growFor(*layout_);
      return Stage::kAllreduceAgain;
    case Stage::kAllreduceAgain:
      if (!step_.fitted) {
        postAllreduce();
      }
      return Stage::kRankValuesAfterwards;
    case Stage::kRankValuesAfterwards:
      if (!step_.sentRankValues) {
        postRankValues();
      }
      return Stage::kWait;
    case Stage::kWait:
      break;
  }
  return Stage::kWait;
}

void MetricReducer::layOut() {
  if (taken_.layout() == layout_ && taken_.isLaidOut()) {
    return;
  }
  const std::vector<QueuedMetric> metrics = taken_.metrics();
  if (!layout_->isOf(metrics)) {
    layout_ = MetricLayout::of(metrics, tags_);
  }
  taken_ = taken_.laidOutAs(layout_);
}

bool MetricReducer::wait() {
  advance();
  return compare();
}

bool MetricReducer::compare() {
  // If the wait throws, nothing is left to finish.
  step_.isUnderWay = false;
  allreduce_.wait();
  gather_.wait();
  step_.isUnderWay = true;
  return agrees();
}

void MetricReducer::finish() {
  if (!wait()) {
    throwMismatch();
  }
  step_.isUnderWay = false;
  format_.sendsRankValues = layout_->needsRankValues;
}

std::shared_ptr<const MetricTotals> MetricReducer::ownSums() {
  std::shared_ptr<MetricTotals> own = pool_->take();
  own->layout = layout_;
  own->step = step_.number;
  own->hasMoments = false;
  own->sums = taken_.sums();
  own->wallTimes = taken_.wallTimes();
  return own;
}

void MetricReducer::postAllreduce() {
  totals_->hasMoments = format_.sendsMoments;
  if (format_.sendsMoments) {
    const ArrayView<MetricMoments> own =
        taken_.momentsMessage(step_.fingerprint, communicator_->rank(), format_.capacity);
    totals_->moments.resize(own.size());
    allreduce_ = communicator_->allreduceAsync(own, ArrayView<MetricMoments>(totals_->moments),
                                               collectiveOptions_);
  } else {
    const ArrayView<double> own = taken_.sumsMessage(step_.fingerprint, format_.capacity);
    totals_->sums.resize(own.size());
    allreduce_ =
        communicator_->allreduceAsync(own, totals_->sums, ReduceOp::kSum, collectiveOptions_);
  }
}

void MetricReducer::postRankValues() {
  ownValues_.clear();
  for (std::size_t place = 0; place < layout_->size(); ++place) {
    if ((layout_->metrics[place].statistics & kRankValues) != 0) {
      appendRankValue(ownValues_, taken_.moments(place));
    }
  }
  gather_ = communicator_->gatherObjectAsync(ownValues_, valuesByRank_, 0, collectiveOptions_);
}

bool MetricReducer::agrees() const {
  if (totals_->hasMoments) {
    const MetricMoments& fingerprint = totals_->moments.front();
    return fingerprint.min == fingerprint.max;
  }
  return FingerprintParts(step_.fingerprint)
      .areThoseOfAll(totals_->sums.data(), communicator_->size());
}

void MetricReducer::MessageFormat::growFor(const MetricLayout& layout) {
  while (layout.size() >= capacity) {
    capacity *= 2;
  }
  sendsMoments = sendsMoments || layout.needsMoments;
}

void MetricReducer::throwMismatch() {
  MetricSchema mine;
  mine.step = step_.number;
  mine.nodeName = communicator_->nodeName();
  mine.metrics = layout_->metrics;
  const std::string bytes = mine.encode();
  // All ranks start over, including those whose metrics wait for other steps.
  step_.isUnderWay = false;
  format_.sendsRankValues = false;
  queue_.clear();

  std::vector<MetricSchema> schemaByRank;
  for (const std::string& schema : communicator_->allgather(bytes)) {
    schemaByRank.push_back(MetricSchema::decode(schema));
  }
  throw Error(ErrorCode::kRankMismatch, describeMismatch(schemaByRank));
}

}  // namespace steptape::detail::metrics
