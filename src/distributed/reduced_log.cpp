// SPDX-License-Identifier: Apache-2.0
#include "distributed/reduced_log.h"

#include <iostream>
#include <optional>
#include <utility>

#include "steptape/distributed/rank_log.h"

namespace steptape::detail {

ReducedLog::ReducedLog(std::shared_ptr<Communicator> communicator, ReduceMode mode,
                       ErrorListener onError)
    : communicator_(std::move(communicator)),
      mode_(mode),
      onError_(std::move(onError)),
      reducer_(communicator_) {}

void ReducedLog::add(std::string_view tag, double value, std::int64_t step,
                     const ReducedOptions& options) {
  const std::uint32_t tagId = reducer_.add(tag, value, step, options);
  jobScalars_.describe(tagId, options);
  rankValueSummaries_.describe(tagId, options);
  if (options.band) {
    bandCharts_.want(tagId, reducer_.nameOf(tagId));
  }
}

void ReducedLog::reduce(std::int64_t step, const ReducedRuns& runs) {
  finish(runs);
  reducer_.start(step);
  if (mode_ == ReduceMode::kBlocking) {
    finish(runs);
  }
}

void ReducedLog::finish(const ReducedRuns& runs) {
  if (reducer_.isUnderWay()) {
    reducer_.finish();
    write(runs);
  }
}

Status ReducedLog::settle(const ReducedRuns& runs) {
  if (!reducer_.isUnderWay()) {
    return {};
  }
  try {
    if (reducer_.wait()) {
      finish(runs);
      return {};
    }
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {ErrorCode::kRankMismatch,
          "reduce: the ranks reduce different metrics at step " + std::to_string(reducer_.step()) +
              ", which are not written; the next reduce() or finishReduce() says how they differ"};
}

void ReducedLog::end(const ReducedRuns& runs) noexcept {
  try {
    report(settle(runs));
    if (reducer_.pendingCount() > 0) {
      report({ErrorCode::kFailedPrecondition,
              "DistributedWriter: " + std::to_string(reducer_.pendingCount()) +
                  " metrics were queued by addReduced() and never reduced; they are lost"});
    }
  } catch (...) {
    // A destructor has nobody left to tell.
  }
}

void ReducedLog::write(const ReducedRuns& runs) {
  if (runs.job.isEnabled()) {
    StepBatch batch = runs.job.atStep(reducer_.step());
    nextRankValues_ = 0;
    for (std::size_t at = 0; at < reducer_.size(); ++at) {
      writeJobMetric(runs.job, batch, at);
    }
    bandCharts_.write(runs.job);
  }
  if (runs.rank != nullptr) {
    writeOwnMeans(*runs.rank);
  }
}

void ReducedLog::writeJobMetric(SummaryWriter& job, StepBatch& batch, std::size_t at) {
  const QueuedMetric& metric = reducer_.metric(at);
  const double weight = reducer_.totalWeight(at);
  const bool hasValue = weight > 0;
  // Of a thousand metrics most are of this kind: neither name nor moments are looked at.
  if (hasValue && metric.statistics == 0 && !reducer_.hasWallTimes() &&
      jobScalars_.addMean(batch, metric.tagId, reducer_.totalWeightedSum(at) / weight)) {
    return;
  }
  const std::string& tag = reducer_.nameOf(metric.tagId);
  const std::optional<double> wallTime = reducer_.wallTime(at);
  const bool hasRankValues = (metric.statistics & kRankValues) != 0;
  const std::size_t rankValuesAt = nextRankValues_;
  nextRankValues_ += hasRankValues ? 1 : 0;
  if (!hasValue) {
    reportNoValue(tag);
    return;
  }
  jobScalars_.add(job, batch, reducer_.step(), tag, metric, reducer_.total(at), wallTime);
  if (hasRankValues) {
    reducer_.rankValues(rankValuesAt, rankValues_);
    rankValueSummaries_.add(job, reducer_.step(), tag, metric.tagId, rankValues_, wallTime);
  }
}

void ReducedLog::writeOwnMeans(SummaryWriter& rank) {
  StepBatch batch = rank.atStep(reducer_.step());
  for (std::size_t at = 0; at < reducer_.size(); ++at) {
    const MetricMoments& own = reducer_.own(at);
    if (own.weight > 0) {
      const std::uint32_t tagId = reducer_.metric(at).tagId;
      ownScalars_.add(rank, batch, reducer_.step(), reducer_.nameOf(tagId),
                      {tagId, /*statistics=*/0}, own, reducer_.wallTime(at));
    }
  }
}

void ReducedLog::reportNoValue(const std::string& tag) {
  if (!std::exchange(hasToldOfNoValue_, true)) {
    report({ErrorCode::kFailedPrecondition,
            "reduce: no rank had a value of '" + tag + "' at step " +
                std::to_string(reducer_.step()) +
                ", all weights are 0: no point is written. Further ones are not told"});
  }
}

void ReducedLog::report(const Status& status) const {
  if (status.ok()) {
    return;
  }
  if (onError_) {
    onError_(status);
  } else {
    logFromRank(*communicator_, status.message(), std::cerr);
  }
}

}  // namespace steptape::detail
