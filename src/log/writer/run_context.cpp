// SPDX-License-Identifier: Apache-2.0
#include "log/writer/run_context.h"

#include <utility>

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
