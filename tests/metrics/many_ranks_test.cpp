// SPDX-License-Identifier: Apache-2.0
//
// Counts what a job costs each rank, on few ranks and on four times as many: no rank but the root
// may get more bytes on more ranks, and no rank may send a message to each other one.
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "steptape/metrics/distributed_writer.h"
#include "steptape/metrics/machine_metrics.h"
#include "steptape/metrics/straggler_report.h"
#include "steptape/ranks/testing.h"

#include "ranks/communicator/posix_node_memory.h"
#include "ranks/communicator/run_on_all_ranks.h"
#include "ranks/engine/engine_communicator.h"
#include "ranks/engine/node_transport.h"
#include "support/counting_transport.h"

#include <gtest/gtest.h>

namespace steptape {
namespace {

using test::CountingTransport;
using test::TransportCounts;

/// A rank that is a thread, whose transport counts.
class CountedRank final : public detail::ranks::EngineCommunicator {
 public:
  static std::shared_ptr<CountedRank> make(Communicator& threads) {
    std::vector<detail::ranks::GroupMap::Place> places(static_cast<std::size_t>(threads.size()),
                                                       {0, threads.nodeName()});
    auto moving = std::make_shared<detail::ranks::NodeTransport>(
        threads.allocateNodeMemory(detail::ranks::NodeTransport::bytesFor(threads.size())),
        detail::ranks::GroupMap(std::move(places), threads.rank()));
    return std::make_shared<CountedRank>(std::make_shared<CountingTransport>(std::move(moving)));
  }

  explicit CountedRank(const std::shared_ptr<CountingTransport>& transport)
      : EngineCommunicator(transport), transport_(transport) {}

  const TransportCounts& counts() const { return transport_->counts(); }
  std::shared_ptr<NodeMemory> allocateNodeMemory(std::size_t bytes, std::string* why) override {
    return detail::ranks::PosixNodeMemory::tryMake(*this, map(), bytes, why, {});
  }

 private:
  std::shared_ptr<CountingTransport> transport_;
};

using Work = std::function<void(const std::shared_ptr<CountedRank>&, const std::string& logDir)>;

/// Returns what `work` costs each rank.
std::vector<TransportCounts> costs(int ranks, const Work& work) {
  const testing::TempDir directory;
  std::vector<TransportCounts> byRank(static_cast<std::size_t>(ranks));
  testing::runRanks(ranks, [&](Communicator& threads) {
    const std::shared_ptr<CountedRank> rank = CountedRank::make(threads);
    work(rank, directory.string());
    byRank[static_cast<std::size_t>(threads.rank())] = rank->counts();
    threads.barrier();
  });
  return byRank;
}

constexpr int kFew = 3;
constexpr int kMany = 12;

/// Expects that the last rank pays the same, however many ranks there are.
void expectSameForEachRank(const Work& work) {
  const TransportCounts ofFew = costs(kFew, work).back();
  const TransportCounts ofMany = costs(kMany, work).back();
  EXPECT_GT(ofMany.operations, 0U);
  EXPECT_EQ(ofMany.operations, ofFew.operations);
  EXPECT_EQ(ofMany.sentBytes, ofFew.sentBytes);
  EXPECT_EQ(ofMany.receivedBytes, ofFew.receivedBytes);
  EXPECT_EQ(ofMany.pairs, 0U);
}

TEST(ManyRanks, OpenARunWithoutHoldingTheTextsOfAll) {
  expectSameForEachRank([](const std::shared_ptr<CountedRank>& world, const std::string& logDir) {
    const DistributedWriter writer(logDir, world);
  });
}

TEST(ManyRanks, ReduceInOneMessageOfOneSize) {
  expectSameForEachRank([](const std::shared_ptr<CountedRank>& world, const std::string& logDir) {
    DistributedWriter writer(logDir, world);
    for (int step = 0; step < 3; ++step) {
      writer.addReduced("loss", world->rank(), step);
      writer.reduce(step);
    }
  });
}

TEST(ManyRanks, SendTheirValuesForPercentilesToTheRootAlone) {
  const Work work = [](const std::shared_ptr<CountedRank>& world, const std::string& logDir) {
    ReducedOptions options;
    options.percentiles = {50};
    DistributedWriter writer(logDir, world);
    for (int step = 0; step < 3; ++step) {
      writer.addReduced("loss", world->rank(), step, options);
      writer.reduce(step);
    }
  };
  expectSameForEachRank(work);
  EXPECT_GT(costs(kMany, work).front().receivedBytes, costs(kFew, work).front().receivedBytes);
}

TEST(ManyRanks, SendTheirTimesToTheRootAlone) {
  expectSameForEachRank([](const std::shared_ptr<CountedRank>& world, const std::string& logDir) {
    DistributedWriter writer(logDir, world);
    StragglerReportOptions options;
    options.everySteps = 1;
    options.mode = ReduceMode::kBlocking;
    options.clock = std::make_shared<testing::FakeClock>();
    StragglerReport report(writer, options);
    report.endStep(1);
    report.endStep(2);
  });
}

TEST(ManyRanks, MergeTheMetricsOfTheMachine) {
  expectSameForEachRank([](const std::shared_ptr<CountedRank>& world, const std::string& logDir) {
    DistributedWriter writer(logDir, world);
    MachineMetrics machine(writer);
    machine.endStep(1);
    machine.finish();
  });
}

TEST(ManyRanks, GatherTextsOnOneRankWithoutAMessageForEachPair) {
  for (const std::size_t bytes : {10, 100, 400'000}) {
    expectSameForEachRank([bytes](const std::shared_ptr<CountedRank>& world, const std::string&) {
      world->gatherObject(std::string(bytes, 'x'), 0);
    });
  }
}

TEST(ManyRanks, ShareTheMemoryOfTheirNodeWithoutHoldingTheTextsOfAll) {
  expectSameForEachRank([](const std::shared_ptr<CountedRank>& world, const std::string&) {
    EXPECT_NE(world->allocateNodeMemory(1000, nullptr), nullptr);
  });
}

TEST(ManyRanks, LearnWhichRankFailed) {
  costs(kFew, [](const std::shared_ptr<CountedRank>& world, const std::string&) {
    try {
      detail::ranks::runOnAllRanks(*world, "work", [&] {
        if (world->rank() == 1) {
          throw Error(ErrorCode::kIoError, "no disk");
        }
      });
      ADD_FAILURE() << "expected an error";
    } catch (const Error& error) {
      EXPECT_EQ(error.what(), "rank 1 (" + world->nodeName() + "): no disk");
    }
  });
}

}  // namespace
}  // namespace steptape
