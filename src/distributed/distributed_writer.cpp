// SPDX-License-Identifier: Apache-2.0
#include "steptape/distributed/distributed_writer.h"

#include <iostream>
#include <optional>
#include <utility>

#include "steptape/base/error.h"
#include "steptape/distributed/rank_log.h"

#include "distributed/metric_reducer.h"
#include "distributed/open_on_all_ranks.h"
#include "distributed/reduced_scalars.h"

namespace steptape {
namespace {

/// Opens this rank's writer and sets `logDir` to the root's. Collective.
SummaryWriter openOwnWriter(std::string& logDir, const std::shared_ptr<Communicator>& communicator,
                            const DistributedWriterOptions& options) {
  if (!communicator) {
    throw Error(ErrorCode::kInvalidArgument,
                "DistributedWriter: the communicator is null; give mpi::world() or, for one "
                "process, std::make_shared<Communicator>()");
  }
  logDir = detail::valueOfRoot(*communicator, logDir);
  const bool isPerRank = options.rankPolicy == RankPolicy::kPerRank;
  WriterOptions writer = options.writer;
  writer.enabled = writer.enabled && (isPerRank || communicator->isRoot());
  const std::string directory =
      isPerRank ? logDir + "/" + rankRunName(communicator->rank()) : logDir;
  return detail::openOnAllRanks(*communicator, [&] { return SummaryWriter(directory, writer); });
}

}  // namespace

class DistributedWriter::Impl {
 public:
  Impl(std::shared_ptr<Communicator> communicator, const DistributedWriterOptions& options)
      : communicator_(std::move(communicator)),
        reducer_(communicator_),
        policy_(options.rankPolicy),
        onError_(options.writer.onError) {}

  /// Opens the job's run beside the ranks' sub-runs. Collective.
  void openJobWriter(const std::string& logDir, WriterOptions options) {
    options.enabled = options.enabled && communicator_->isRoot();
    jobWriter_.emplace(
        detail::openOnAllRanks(*communicator_, [&] { return SummaryWriter(logDir, options); }));
  }

  ~Impl() {
    if (reducer_.pendingCount() == 0) {
      return;
    }
    try {
      report(ErrorCode::kFailedPrecondition,
             "DistributedWriter: " + std::to_string(reducer_.pendingCount()) +
                 " metrics were queued by addReduced() and never reduced; they are lost");
    } catch (...) {
      // A destructor has nobody left to tell.
    }
  }

  void add(std::string_view tag, double value, std::int64_t step, const ReducedOptions& options) {
    reducer_.add(tag, value, step, options);
    jobScalars_.describe(reducer_.idOf(tag), options);
  }

  void reduce(SummaryWriter& ownWriter, std::int64_t step) {
    SummaryWriter& jobWriter = jobWriter_ ? *jobWriter_ : ownWriter;
    for (const detail::ReducedMetric& metric : reducer_.reduce(step)) {
      const std::string& tag = reducer_.nameOf(metric.own.tagId);
      if (communicator_->isRoot()) {
        addJobPoint(jobWriter, tag, metric, step);
      }
      if (jobWriter_ && metric.own.moments.weight > 0) {
        detail::QueuedMetric meanOnly = metric.own;
        meanOnly.statistics = 0;
        ownScalars_.add(ownWriter, tag, meanOnly, metric.own.moments, step);
      }
    }
    jobScalars_.writeStep(jobWriter, step);
    ownScalars_.writeStep(ownWriter, step);
  }

  std::optional<SummaryWriter>& jobWriter() { return jobWriter_; }
  const std::shared_ptr<Communicator>& communicator() const { return communicator_; }
  RankPolicy policy() const { return policy_; }

 private:
  void addJobPoint(SummaryWriter& jobWriter, const std::string& tag,
                   const detail::ReducedMetric& metric, std::int64_t step) {
    if (metric.total.weight > 0) {
      jobScalars_.add(jobWriter, tag, metric.own, metric.total, step);
      return;
    }
    if (!std::exchange(hasToldOfNoValue_, true)) {
      report(ErrorCode::kFailedPrecondition,
             "reduce: no rank had a value of '" + tag + "' at step " + std::to_string(step) +
                 ", all weights are 0: no point is written. Further ones are not told");
    }
  }

  void report(ErrorCode code, const std::string& message) const {
    if (onError_) {
      onError_(Status(code, message));
    } else {
      logFromRank(*communicator_, message, std::cerr);
    }
  }

  std::shared_ptr<Communicator> communicator_;
  detail::MetricReducer reducer_;
  RankPolicy policy_;
  std::function<void(const Status&)> onError_;
  std::optional<SummaryWriter> jobWriter_;  // kPerRank only; else the own writer is the job's.
  detail::ReducedScalars jobScalars_;
  detail::ReducedScalars ownScalars_;  // kPerRank only.
  bool hasToldOfNoValue_ = false;
};

DistributedWriter::DistributedWriter(std::string logDir, std::shared_ptr<Communicator> communicator,
                                     DistributedWriterOptions options)
    : SummaryWriter(openOwnWriter(logDir, communicator, options)),
      impl_(std::make_unique<Impl>(std::move(communicator), options)) {
  if (options.rankPolicy == RankPolicy::kPerRank) {
    impl_->openJobWriter(logDir, std::move(options.writer));
  }
}

DistributedWriter::DistributedWriter(DistributedWriter&&) noexcept = default;
DistributedWriter& DistributedWriter::operator=(DistributedWriter&&) noexcept = default;
DistributedWriter::~DistributedWriter() = default;

void DistributedWriter::addReduced(std::string_view tag, double value, std::int64_t step,
                                   const ReducedOptions& options) {
  impl_->add(tag, value, step, options);
}

void DistributedWriter::reduce(std::int64_t step) {
  impl_->reduce(*this, step);
}

void DistributedWriter::addScalar(std::string_view tag, double value, std::int64_t step) {
  if (impl_->policy() == RankPolicy::kReduced) {
    addReduced(tag, value, step);
  } else {
    SummaryWriter::addScalar(tag, value, step);
  }
}

void DistributedWriter::addScalar(std::string_view tag, double value, std::int64_t step,
                                  const ScalarOptions& options) {
  if (impl_->policy() != RankPolicy::kReduced) {
    SummaryWriter::addScalar(tag, value, step, options);
    return;
  }
  ReducedOptions reduced;
  reduced.wallTime = options.wallTime;
  reduced.displayName = options.displayName;
  reduced.description = options.description;
  addReduced(tag, value, step, reduced);
}

Status DistributedWriter::flush() {
  const Status own = SummaryWriter::flush();
  const Status job = impl_->jobWriter() ? impl_->jobWriter()->flush() : Status();
  return own.ok() ? job : own;
}

Status DistributedWriter::close() {
  const Status own = SummaryWriter::close();
  const Status job = impl_->jobWriter() ? impl_->jobWriter()->close() : Status();
  return own.ok() ? job : own;
}

const std::shared_ptr<Communicator>& DistributedWriter::communicator() const {
  return impl_->communicator();
}

RankPolicy DistributedWriter::rankPolicy() const {
  return impl_->policy();
}

}  // namespace steptape
