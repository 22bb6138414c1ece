// SPDX-License-Identifier: Apache-2.0
#include "profile/recorder/rank_exchange.h"

#include <string_view>
#include <utility>

#include "steptape/base/status.h"

#include "events/messages/wire_cursor.h"
#include "events/messages/wire_format.h"

namespace steptape::detail::profile {
namespace {

std::string takeFirst(events::WireCursor* cursor) {
  std::string_view bytes;
  if (!cursor->bytes(&bytes)) {
    throw Error(
        ErrorCode::kRankMismatch,
        "profiles of the ranks: got fewer windows from a rank than from others; expected as many");
  }
  return std::string(bytes);
}

}  // namespace

RankExchange::RankExchange(std::shared_ptr<Communicator> ranks) : ranks_(std::move(ranks)) {}

void RankExchange::expect(std::int64_t step) {
  std::list<std::string> place(1);
  expected_.push_back(step);
  const base::MutexLock lock(mutex_);
  missing_.splice(missing_.end(), place);
}

void RankExchange::provide(std::string found) noexcept {
  const base::MutexLock lock(mutex_);
  if (!missing_.empty()) {
    missing_.front() = std::move(found);
    provided_.splice(provided_.end(), missing_, missing_.begin());
  }
}

std::vector<RankExchange::Window> RankExchange::advance() {
  std::vector<Window> arrived;
  if (phase_ == Phase::kSending) {
    underWay_.wait();
    arrived = takeArrived();
    phase_ = Phase::kIdle;
  } else if (phase_ == Phase::kAsking) {
    underWay_.wait();
    phase_ = Phase::kIdle;
    if (ready_.front() > 0) {
      send(static_cast<std::size_t>(ready_.front()));
    }
  }
  if (phase_ == Phase::kIdle && !expected_.empty()) {
    ask();
  }
  return arrived;
}

std::vector<RankExchange::Window> RankExchange::finish() {
  std::vector<Window> all;
  while (phase_ != Phase::kIdle || !expected_.empty()) {
    for (Window& window : advance()) {
      all.push_back(std::move(window));
    }
  }
  return all;
}

void RankExchange::ask() {
  {
    const base::MutexLock lock(mutex_);
    ready_.front() = static_cast<std::int64_t>(provided_.size());
  }
  underWay_ = ranks_->allreduceAsync(ready_, ReduceOp::kMin, named());
  phase_ = Phase::kAsking;
}

void RankExchange::send(std::size_t windows) {
  own_.clear();
  {
    const base::MutexLock lock(mutex_);
    for (std::size_t i = 0; i < windows; ++i) {
      events::appendVarint(&own_, provided_.front().size());
      own_ += provided_.front();
      provided_.pop_front();
    }
  }
  underWay_ = ranks_->gatherObjectAsync(own_, fromRank_, 0, named());
  phase_ = Phase::kSending;
}

std::vector<RankExchange::Window> RankExchange::takeArrived() {
  const auto windows = static_cast<std::size_t>(ready_.front());
  std::vector<Window> arrived;
  for (std::size_t i = 0; i < windows; ++i) {
    arrived.push_back({expected_.front(), {}});
    expected_.pop_front();
  }
  if (!ranks_->isRoot()) {
    return {};
  }
  for (const std::string& bytes : fromRank_) {
    events::WireCursor cursor(bytes);
    for (Window& window : arrived) {
      window.byRank.push_back(takeFirst(&cursor));
    }
  }
  return arrived;
}

CollectiveOptions RankExchange::named() const {
  CollectiveOptions options;
  options.name = "profile up to step " + std::to_string(expected_.front());
  return options;
}

}  // namespace steptape::detail::profile
