// SPDX-License-Identifier: Apache-2.0
// The part of a reduce() of many metrics that runs on the writer's thread.

#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "steptape/metrics/distributed_writer.h"

#include "log/writer/backend.h"
#include "log/writer/deferred_scalars.h"
#include "log/writer/scalar_ring.h"
#include "metrics/writer_on_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using detail::log::Backend;
using detail::log::ScalarRing;
using ::testing::ElementsAre;
using ::testing::SizeIs;

class DeferredReduce : public test::WriterOnRanks {
 protected:
  /// Returns the words that a reduce() of this many metrics puts into the root's ring.
  std::uint64_t ringWordsOf(int metrics) {
    std::uint64_t words = 0;
    onRanks(2, [&](DistributedWriter& writer, Communicator& world) {
      for (std::int64_t step = 0; step < 3; ++step) {
        for (int metric = 0; metric < metrics; ++metric) {
          writer.addReduced("metric" + std::to_string(metric), world.rank() + metric, step);
        }
        std::promise<void> go;
        const std::uint64_t before =
            world.isRoot() ? stopBackend(writer.localWriter(), go.get_future()) : 0;
        writer.reduce(step);
        if (world.isRoot()) {
          words = Backend::producer().ring.waiting() - before;
          go.set_value();
        }
      }
    });
    return words;
  }

 private:
  /// Blocks the writer's thread until `go`, so that the ring keeps new entries.
  ///
  /// @return the number of words in the ring.
  static std::uint64_t stopBackend(SummaryWriter& writer, std::future<void> go) {
    auto shared = std::make_shared<std::future<void>>(std::move(go));
    std::promise<void> stopped;
    std::future<void> hasStopped = stopped.get_future();
    auto sharedStopped = std::make_shared<std::promise<void>>(std::move(stopped));
    detail::log::DeferredScalars::add(writer, 0, 1, 0,
                                      [shared, sharedStopped](detail::log::DeferredScalars::Sink&) {
                                        sharedStopped->set_value();
                                        shared->wait_for(std::chrono::seconds(30));
                                      });
    EXPECT_EQ(hasStopped.wait_for(std::chrono::seconds(30)), std::future_status::ready);
    return Backend::producer().ring.waiting();
  }
};

TEST_F(DeferredReduce, PutsOneEntryIntoTheRingHoweverManyMetricsThereAreBeyondAFew) {
  EXPECT_EQ(ringWordsOf(100), ScalarRing::kEntryWords);
  EXPECT_EQ(ringWordsOf(1000), ScalarRing::kEntryWords);
  const test::PointsByTag points = pointsOf();
  EXPECT_THAT(points, SizeIs(1000));
  EXPECT_THAT(points.at("metric999"),
              ElementsAre(test::Points::value_type{0, 999.5F}, test::Points::value_type{1, 999.5F},
                          test::Points::value_type{2, 999.5F}));
}

TEST_F(DeferredReduce, PutsAFewMetricsIntoTheRingThemselves) {
  EXPECT_EQ(ringWordsOf(16), ScalarRing::batchWords(16));
  EXPECT_THAT(pointsOf(), SizeIs(16));
}

TEST_F(DeferredReduce, WritesAllMetricsOfAStepInOneEvent) {
  onRanks(2, [](DistributedWriter& writer, Communicator& /*world*/) {
    for (int metric = 0; metric < 200; ++metric) {
      ReducedOptions options;
      options.max = metric % 2 == 0;
      writer.addReduced("metric" + std::to_string(metric), metric, 5, options);
    }
    const std::uint64_t before = writer.stats().events;
    writer.reduce(5);
    EXPECT_TRUE(writer.flush().ok());
    if (writer.isEnabled()) {
      EXPECT_EQ(writer.stats().events - before, 1U);
      EXPECT_EQ(writer.stats().scalars, 300U);
    }
  });
}

TEST_F(DeferredReduce, MayOutliveTheDistributedWriter) {
  testing::runRanksShared(2, [&](const std::shared_ptr<Communicator>& world) {
    auto writer = std::make_unique<DistributedWriter>(logDir(), world, optionsWithReports());
    for (int step = 0; step < 50; ++step) {
      writer->addReduced("loss", world->rank(), step, ReducedOptions::all());
      writer->reduce(step);
    }
    writer.reset();
  });
  EXPECT_THAT(pointsOf().at("loss/max"), SizeIs(50));
}

}  // namespace
}  // namespace steptape
