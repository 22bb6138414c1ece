// SPDX-License-Identifier: Apache-2.0
#include "steptape/metrics/distributed_writer.h"

#include <initializer_list>
#include <optional>
#include <utility>

#include "steptape/base/status.h"

#include "log/writer/directory_place.h"
#include "log/writer/run_claim.h"
#include "metrics/writer/open_on_all_ranks.h"
#include "metrics/writer/reduced_log.h"
#include "process/blackbox/state_page.h"

namespace steptape {
namespace {

/// Opens this rank's writer and sets `logDir` and the mirror to the root's. Collective.
///
/// @param claim The root's of the job's run, which holds it until its writer is open.
SummaryWriter openLocalWriter(std::string& logDir,
                              const std::shared_ptr<Communicator>& communicator,
                              DistributedWriterOptions& options, detail::log::RunClaim* claim) {
  if (!communicator) {
    throw Error(ErrorCode::kInvalidArgument,
                "DistributedWriter: the communicator is null; give world() or, for one "
                "process, std::make_shared<Communicator>()");
  }
  if (communicator->isRoot() && options.writer.occupied == OccupiedRun::kNewDirectory) {
    *claim = detail::log::chooseRun(&logDir, &options.writer);
  }
  logDir = detail::metrics::valueOfRoot(*communicator, logDir);
  options.writer.mirror = detail::metrics::valueOfRoot(*communicator, options.writer.mirror);
  if (detail::process::StatePage* const page = detail::process::StatePage::current()) {
    page->noteLogDirectory(detail::log::placeOf(logDir).directory);
  }
  const bool isPerRank = options.rankPolicy == RankPolicy::kPerRank;
  WriterOptions writer = options.writer;
  writer.enabled = writer.enabled && (isPerRank || communicator->isRoot());
  std::string directory = logDir;
  if (isPerRank) {
    const std::string name = '/' + rankRunName(communicator->rank());
    directory += name;
    writer.mirror += writer.mirror.empty() ? "" : name;
  }
  return detail::metrics::openOnAllRanks(*communicator,
                                         [&] { return SummaryWriter(directory, writer); });
}

Status firstFailure(std::initializer_list<Status> results) {
  for (const Status& result : results) {
    if (!result.ok()) {
      return result;
    }
  }
  return {};
}

}  // namespace

class DistributedWriter::Impl {
 public:
  Impl(SummaryWriter localWriter, std::shared_ptr<Communicator> communicator,
       const DistributedWriterOptions& options)
      : communicator_(std::move(communicator)),
        log_(communicator_, options.reduceMode, options.writer.onError),
        policy_(options.rankPolicy),
        localWriter_(std::move(localWriter)) {}

  /// Opens the job's run next to the ranks' sub-runs. Collective.
  void openJobWriter(const std::string& logDir, WriterOptions options) {
    options.enabled = options.enabled && communicator_->isRoot();
    jobWriter_.emplace(detail::metrics::openOnAllRanks(
        *communicator_, [&] { return SummaryWriter(logDir, options); }));
  }

  detail::metrics::ReducedRuns runs() {
    return jobWriter_ ? detail::metrics::ReducedRuns{*jobWriter_, &localWriter_}
                      : detail::metrics::ReducedRuns{localWriter_, nullptr};
  }

  detail::metrics::ReducedLog& log() { return log_; }
  SummaryWriter& localWriter() { return localWriter_; }
  std::optional<SummaryWriter>& jobWriter() { return jobWriter_; }
  const std::shared_ptr<Communicator>& communicator() const { return communicator_; }
  RankPolicy policy() const { return policy_; }

 private:
  std::shared_ptr<Communicator> communicator_;
  detail::metrics::ReducedLog log_;
  RankPolicy policy_;
  SummaryWriter localWriter_;
  std::optional<SummaryWriter> jobWriter_;  // only for kPerRank; else the local writer is the job's
};

DistributedWriter::DistributedWriter(std::string logDir, std::shared_ptr<Communicator> communicator,
                                     DistributedWriterOptions options) {
  detail::log::RunClaim claim;
  SummaryWriter local = openLocalWriter(logDir, communicator, options, &claim);
  impl_ = std::make_unique<Impl>(std::move(local), std::move(communicator), options);
  local_ = &impl_->localWriter();
  if (options.rankPolicy == RankPolicy::kPerRank) {
    impl_->openJobWriter(logDir, std::move(options.writer));
  }
}

DistributedWriter::DistributedWriter(DistributedWriter&&) noexcept = default;

DistributedWriter& DistributedWriter::operator=(DistributedWriter&& other) noexcept {
  if (this != &other) {
    end();
    impl_ = std::move(other.impl_);
    local_ = other.local_;
  }
  return *this;
}

DistributedWriter::~DistributedWriter() {
  end();
}

void DistributedWriter::end() noexcept {
  if (impl_) {
    impl_->log().end(impl_->runs());
  }
}

void DistributedWriter::addReduced(std::string_view tag, double value, std::int64_t step) {
  static const ReducedOptions kMean;
  addReduced(tag, value, step, kMean);
}

void DistributedWriter::addReduced(std::string_view tag, double value, std::int64_t step,
                                   const ReducedOptions& options) {
  impl_->log().add(tag, value, step, options);
}

void DistributedWriter::reduce(std::int64_t step) {
  detail::process::noteStep(step);
  impl_->log().reduce(step, impl_->runs());
}

void DistributedWriter::finishReduce() {
  impl_->log().finish(impl_->runs());
}

void DistributedWriter::addScalar(std::string_view tag, double value, std::int64_t step) {
  if (impl_->policy() == RankPolicy::kReduced) {
    addReduced(tag, value, step);
  } else {
    local_->addScalar(tag, value, step);
  }
}

void DistributedWriter::addScalar(std::string_view tag, double value, std::int64_t step,
                                  const ScalarOptions& options) {
  if (impl_->policy() != RankPolicy::kReduced) {
    local_->addScalar(tag, value, step, options);
    return;
  }
  ReducedOptions reduced;
  reduced.wallTime = options.wallTime;
  reduced.displayName = options.displayName;
  reduced.description = options.description;
  addReduced(tag, value, step, reduced);
}

Status DistributedWriter::flush() {
  const Status reduced = impl_->log().settle(impl_->runs());
  const Status local = local_->flush();
  const Status job = impl_->jobWriter() ? impl_->jobWriter()->flush() : Status();
  return firstFailure({reduced, local, job});
}

Status DistributedWriter::close() {
  const Status reduced = impl_->log().settle(impl_->runs());
  const Status local = local_->close();
  const Status job = impl_->jobWriter() ? impl_->jobWriter()->close() : Status();
  return firstFailure({reduced, local, job});
}

SummaryWriter& DistributedWriter::jobWriter() {
  return impl_->jobWriter() ? *impl_->jobWriter() : *local_;
}

const std::shared_ptr<Communicator>& DistributedWriter::communicator() const {
  return impl_->communicator();
}

RankPolicy DistributedWriter::rankPolicy() const {
  return impl_->policy();
}

}  // namespace steptape
