// SPDX-License-Identifier: Apache-2.0
#include "train/replicas/messages/chain_queue.h"

#include <cstddef>
#include <optional>
#include <utility>

namespace steptape::detail::train {
namespace {

constexpr std::size_t kMostUnderWay = 2;

}  // namespace

void ChainQueue::push(CollectiveChain& chain) {
  if (!error_) {
    waiting_.push_back(&chain);
  }
}

void ChainQueue::poll() noexcept {
  try {
    start();
    while (!underWay_.empty() && underWay_.front().link.handle.isDone()) {
      advanceFirst();
      start();
    }
  } catch (...) {
    giveUp();
  }
}

void ChainQueue::waitForOne() noexcept {
  try {
    start();
    if (!underWay_.empty()) {
      underWay_.front().link.handle.wait();
      advanceFirst();
    }
  } catch (...) {
    giveUp();
  }
}

void ChainQueue::finish() {
  while (!isIdle()) {
    waitForOne();
  }
  rethrowError();
}

void ChainQueue::rethrowError() const {
  if (error_) {
    std::rethrow_exception(error_);
  }
}

void ChainQueue::start() {
  while (!waiting_.empty() && underWay_.size() < kMostUnderWay &&
         (underWay_.empty() || underWay_.back().link.isLast)) {
    CollectiveChain* const chain = waiting_.front();
    waiting_.pop_front();
    if (std::optional<ChainLink> link = chain->advance()) {
      underWay_.push_back({chain, std::move(*link)});
    }
  }
}

void ChainQueue::advanceFirst() {
  Entry& first = underWay_.front();
  if (std::optional<ChainLink> link = first.chain->advance()) {
    first.link = std::move(*link);
  } else {
    underWay_.pop_front();
  }
}

void ChainQueue::giveUp() noexcept {
  error_ = std::current_exception();
  waiting_.clear();
  underWay_.clear();
}

}  // namespace steptape::detail::train
