// SPDX-License-Identifier: Apache-2.0
#include "profile/recorder/profile_trigger.h"

#include <utility>
#include <vector>

#include "steptape/base/clock.h"

namespace steptape::detail::profile {
namespace {

constexpr std::int64_t kSameSignalNanos = 1'000'000'000;

}  // namespace

ProfileTrigger::ProfileTrigger(const ProfilerTrigger& options, std::shared_ptr<Communicator> ranks)
    : signal_(options.signal), ranks_(std::move(ranks)) {
  if (signal_ != 0) {
    signals_ = std::make_unique<SignalWatch>(std::vector<int>{signal_});
  }
  const bool isRoot = ranks_ == nullptr || ranks_->isRoot();
  if (!options.file.empty() && isRoot) {
    file_.emplace(options.file);
  }
}

void ProfileTrigger::arm() {
  if (ranks_ != nullptr && ranks_->size() > 1) {
    agreement_.emplace(ranks_);
  }
  hasToldProblem_ = false;
  if (signals_ != nullptr) {
    signals_ = std::make_unique<SignalWatch>(std::vector<int>{signal_});
  }
}

TriggerWish ProfileTrigger::endStep(bool isProfiling) {
  TriggerWish wish = wishOfThisProcess(isProfiling);
  if (agreement_) {
    wish = agreement_->endStep(wish);
    if (agreement_->isOver()) {
      return isProfiling ? TriggerWish::kEnd : TriggerWish::kNone;
    }
  }
  if (wish == TriggerWish::kNone) {
    return wish;
  }
  follow(wish);
  // The profile that a rank wanted to end may have ended before all ranks received the request.
  return (wish == TriggerWish::kEnd) == isProfiling ? wish : TriggerWish::kNone;
}

TriggerWish ProfileTrigger::wishOfThisProcess(bool isProfiling) {
  const std::int64_t modification = file_ ? file_->modification() : FileWatch::kAbsent;
  const bool isFileThere = modification != FileWatch::kAbsent;
  const bool fileWants =
      isProfiling ? isByFile_ && !isFileThere : isFileThere && modification != usedModification_;
  if (fileWants && !isProfiling) {
    wantedModification_ = modification;
  }
  if (!hasNewSignal() && !fileWants) {
    return TriggerWish::kNone;
  }
  return isProfiling ? TriggerWish::kEnd : TriggerWish::kBegin;
}

bool ProfileTrigger::hasNewSignal() {
  if (signals_ == nullptr || signals_->received() == 0) {
    return false;
  }
  if (Clock::system().steadyNanos() >= signalsFromNanos_) {
    return true;
  }
  signals_ = std::make_unique<SignalWatch>(std::vector<int>{signal_});
  return false;
}

void ProfileTrigger::follow(TriggerWish wish) {
  if (signals_ != nullptr && signals_->received() != 0) {
    signals_ = std::make_unique<SignalWatch>(std::vector<int>{signal_});
  }
  signalsFromNanos_ = Clock::system().steadyNanos() + kSameSignalNanos;
  if (wish != TriggerWish::kBegin) {
    return;
  }
  isByFile_ = wantedModification_ != FileWatch::kAbsent;
  if (isByFile_) {
    usedModification_ = std::exchange(wantedModification_, FileWatch::kAbsent);
  }
}

std::string ProfileTrigger::takeProblem() {
  if (!agreement_ || !agreement_->isOver() || std::exchange(hasToldProblem_, true)) {
    return "";
  }
  return "a rank has stopped profiling: ProfilerOptions::trigger begins no profile any more";
}

}  // namespace steptape::detail::profile
