// SPDX-License-Identifier: Apache-2.0
#include "train/replicas/messages/chain_queue.h"

#include <optional>
#include <string>
#include <utility>

#include "steptape/base/status.h"

#include "support/expect_error.h"

#include <gtest/gtest.h>

namespace steptape::detail::train {
namespace {

using test::expectError;

/// Starts this many collectives that have already ended, and records its actions.
class NotedChain final : public CollectiveChain {
 public:
  NotedChain(std::string name, int collectives, std::string& notes)
      : name_(std::move(name)), collectives_(collectives), notes_(notes) {}

  std::optional<ChainLink> advance() override {
    if (started_ == collectives_) {
      notes_ += name_ + " ends; ";
      started_ = 0;
      return std::nullopt;
    }
    notes_ += name_ + std::to_string(++started_) + "; ";
    return ChainLink{CollectiveHandle(), started_ == collectives_};
  }

 private:
  std::string name_;
  int collectives_;
  std::string& notes_;
  int started_ = 0;
};

class FailingChain final : public CollectiveChain {
  std::optional<ChainLink> advance() override { throw Error(ErrorCode::kIoError, "gone"); }
};

TEST(ChainQueue, StartsAChainAfterTheLastCollectiveOfThePreviousOne) {
  std::string notes;
  NotedChain a("a", 2, notes);
  NotedChain b("b", 2, notes);
  NotedChain c("c", 0, notes);
  ChainQueue queue;
  for (NotedChain* const chain : {&a, &b, &c}) {
    queue.push(*chain);
  }
  EXPECT_EQ(notes, "");
  queue.finish();
  EXPECT_EQ(notes, "a1; a2; b1; a ends; b2; c ends; b ends; ");
  EXPECT_TRUE(queue.isIdle());
}

TEST(ChainQueue, AdvancesWithoutWaitingWhenPolled) {
  std::string notes;
  NotedChain a("a", 1, notes);
  ChainQueue queue;
  queue.push(a);
  queue.poll();
  EXPECT_EQ(notes, "a1; a ends; ");
}

TEST(ChainQueue, DoesNothingAfterAnError) {
  std::string notes;
  FailingChain failing;
  NotedChain a("a", 1, notes);
  ChainQueue queue;
  queue.push(failing);
  queue.poll();
  queue.push(a);
  expectError(ErrorCode::kIoError, "gone", [&] { queue.finish(); });
  expectError(ErrorCode::kIoError, "gone", [&] { queue.finish(); });
  EXPECT_EQ(notes, "");
}

}  // namespace
}  // namespace steptape::detail::train
