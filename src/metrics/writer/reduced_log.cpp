// SPDX-License-Identifier: Apache-2.0
#include "metrics/writer/reduced_log.h"

#include <exception>
#include <iostream>
#include <new>
#include <utility>

#include "steptape/ranks/communicator.h"

#include "log/writer/deferred_scalars.h"

namespace steptape::detail::metrics {

ReducedLog::ReducedLog(std::shared_ptr<Communicator> communicator, ReduceMode mode,
                       ErrorListener onError)
    : communicator_(std::move(communicator)),
      mode_(mode),
      onError_(std::move(onError)),
      reducer_(communicator_) {}

void ReducedLog::add(std::string_view tag, double value, std::int64_t step,
                     const ReducedOptions& options) {
  const std::uint32_t tagId = reducer_.idOf(tag, options);
  jobScalars_.describe(tagId, options);
  rankValueSummaries_.describe(tagId, options);
  if (options.band) {
    bandCharts_.want(tagId, reducer_.nameOf(tagId));
  }
  reducer_.add(tagId, value, step, options);  // last: a call that throws has queued nothing
}

void ReducedLog::reduce(std::int64_t step, const ReducedRuns& runs) {
  std::exception_ptr shortage;
  try {
    finish(runs);
  } catch (const std::bad_alloc&) {
    if (reducer_.isUnderWay()) {
      throw;
    }
    // The previous step is not written, but the other ranks wait for this one.
    shortage = std::current_exception();
  }
  reducer_.start(step);
  if (mode_ == ReduceMode::kBlocking) {
    finish(runs);
  }
  if (shortage) {
    std::rethrow_exception(shortage);
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
  } catch (const std::bad_alloc&) {
    return outOfMemory_;
  }
  return {ErrorCode::kRankMismatch,
          "reduce: the ranks reduce different metrics at step " + std::to_string(reducer_.step()) +
              ", which are not written; the next reduce() or finishReduce() says how they differ"};
}

void ReducedLog::end(const ReducedRuns& runs) noexcept {
  const std::size_t metrics = reducer_.metricsUnderWay();
  try {
    const Status status = settle(runs);
    if (!status.ok() && status.code() == ErrorCode::kResourceExhausted) {
      log::DeferredScalars::noteLost(runs.job, std::bad_alloc(), metrics);
    } else {
      report(status);
    }
    if (reducer_.pendingCount() > 0) {
      report({ErrorCode::kFailedPrecondition,
              "DistributedWriter: " + std::to_string(reducer_.pendingCount()) +
                  " metrics were queued by addReduced() and never reduced; they are lost"});
    }
  } catch (...) {
    // A destructor cannot throw.
  }
}

void ReducedLog::write(const ReducedRuns& runs) {
  const std::shared_ptr<const MetricTotals> totals = reducer_.totals();
  if (runs.job.isEnabled()) {
    if (totals->layout->needsRankValues) {
      writeRankValues(runs.job, *totals);
    }
    jobScalars_.write(runs.job, totals);
    bandCharts_.write(runs.job);
  }
  if (runs.rank != nullptr && runs.rank->isEnabled()) {
    ownScalars_.write(*runs.rank, reducer_.ownSums());
  }
}

void ReducedLog::writeRankValues(SummaryWriter& job, const MetricTotals& totals) {
  std::size_t next = 0;
  for (std::size_t place = 0; place < totals.layout->size(); ++place) {
    const Metric& metric = totals.layout->metrics[place];
    if ((metric.statistics & kRankValues) == 0) {
      continue;
    }
    const std::size_t at = next++;
    if (totals.hasValue(place)) {
      reducer_.rankValues(at, rankValues_);
      rankValueSummaries_.add(job, totals.step, metric.tag, metric.tagId, rankValues_,
                              totals.wallTime(place));
    }
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

}  // namespace steptape::detail::metrics
