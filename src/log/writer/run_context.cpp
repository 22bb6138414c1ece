// SPDX-License-Identifier: Apache-2.0
#include "log/writer/run_context.h"

#include <exception>
#include <utility>

#include "log/curves/finding_json.h"
#include "log/writer/run_claim.h"

namespace steptape::detail::log {

RunContext::RunContext(std::string directory, WriterOptions options)
    : directory_(std::move(directory)),
      options_(std::move(options)),
      startTime_(wallSeconds()),
      reporter_(options_.onError),
      losses_(directory_, &counters_, &reporter_),
      memory_(static_cast<std::size_t>(options_.queueBytes)) {
  updateDetour();
  if (options_.enabled && !options_.eventCommand.empty()) {
    process::EventCommand::Options command;
    command.command = options_.eventCommand;
    command.onProblem = [this](const std::string& problem) { reporter_.reportOnce(problem); };
    command_ = std::make_unique<process::EventCommand>(std::move(command));
  }
}

void RunContext::tell(std::string_view event, std::string_view message, std::string_view members,
                      bool isRare) {
  if (command_ != nullptr) {
    command_->post(event, message, directory_, members, isRare);
  }
}

void RunContext::tell(const CurveFinding& finding) {
  if (options_.onFinding) {
    options_.onFinding(finding);
  }
  tell("finding", finding.tag + ": " + finding.message, ", " + findingMembers(finding));
}

void RunContext::tellEnd(SessionStatus status) noexcept {
  if (command_ == nullptr || hasToldEnd_.exchange(true)) {
    return;
  }
  const bool hasFailed = status == SessionStatus::kFailure;
  try {
    tell(hasFailed ? "failed" : "ended",
         hasFailed ? "an exception ended the run" : "the run has ended", {}, /*isRare=*/true);
  } catch (const std::exception&) {
    // There is no memory for it.
  }
}

void RunContext::noteFile(std::list<File> one) noexcept {
  base::MutexLock lock(mutex_);
  files_.splice(files_.end(), one);
}

std::vector<RunContext::File> RunContext::files() const {
  base::MutexLock lock(mutex_);
  return {files_.begin(), files_.end()};
}

Status RunContext::claim() {
  const base::MutexLock lock(mutex_);
  if (lock_ != nullptr) {
    return {};
  }
  RunClaim claim = claimRun(directory_, options_);
  lock_ = std::move(claim.lock);
  return claim.isOccupied() ? claim.status : Status();
}

void RunContext::release() {
  std::shared_ptr<process::DirectoryLock> released;
  const base::MutexLock lock(mutex_);
  released.swap(lock_);
}

void RunContext::changeBacklog(std::size_t from, std::size_t to) {
  if (from == to) {
    return;
  }
  memory_.changeBacklog(from, to);
  updateDetour();
}

void RunContext::disown() {
  disowned_.store(true, std::memory_order_relaxed);
  updateDetour();
}

void RunContext::updateDetour() {
  detour_.store(!isActive() || memory_.isBacklogOver() || options_.clock != nullptr,
                std::memory_order_relaxed);
}

}  // namespace steptape::detail::log
