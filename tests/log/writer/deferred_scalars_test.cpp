// SPDX-License-Identifier: Apache-2.0
#include "log/writer/deferred_scalars.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "steptape/ranks/testing.h"

#include "log/writer/run_contents.h"
#include "log/writer/writer_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using detail::log::DeferredScalars;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class DeferredScalarsTest : public WriterFixture {
 protected:
  /// Defers `count` scalars "t0", "t1", ... with the values 0, 1, ...
  static void defer(SummaryWriter& writer, std::size_t count, std::int64_t step) {
    std::vector<ScalarTag> tags;
    for (std::size_t i = 0; i < count; ++i) {
      tags.push_back(writer.scalarTag("t" + std::to_string(i)));
    }
    DeferredScalars::add(writer, step, count, 0, [tags](DeferredScalars::Sink& sink) {
      double value = 0;
      for (const ScalarTag tag : tags) {
        sink.add(tag, value++, std::nullopt);
      }
    });
  }
  std::vector<event::Event> events() const {
    std::vector<event::Event> events = eventsOf(eventFilesIn(dir_.string()).back());
    events.erase(events.begin(), events.begin() + 2);  // version and START
    return events;
  }
  static WriterOptions withClock() {
    WriterOptions options;
    options.clock = std::make_shared<testing::FakeClock>(1700000000.0);
    return options;
  }
};

TEST_F(DeferredScalarsTest, LeaveWhatABatchLeaves) {
  for (const bool deferred : {false, true}) {
    SummaryWriter writer = open(withClock());
    if (deferred) {
      defer(writer, 3, 7);
    } else {
      StepBatch batch = writer.atStep(7);
      for (int i = 0; i < 3; ++i) {
        batch.add("t" + std::to_string(i), i);
      }
    }
    expectOk(writer.close());
    EXPECT_EQ(writer.stats().scalars, 3U);
    EXPECT_EQ(writer.stats().values, 0U);
  }
  const std::vector<std::string> files = eventFilesIn(dir_.string());
  ASSERT_EQ(files.size(), 2U);
  const std::vector<event::Event> batch = eventsOf(files[0]);
  const std::vector<event::Event> deferred = eventsOf(files[1]);
  ASSERT_EQ(batch.size(), 3U);
  ASSERT_EQ(deferred.size(), 3U);
  std::string batchBytes;
  std::string deferredBytes;
  detail::events::encodeEvent(batch[2], &batchBytes);
  detail::events::encodeEvent(deferred[2], &deferredBytes);
  EXPECT_EQ(batchBytes, deferredBytes);
}

TEST_F(DeferredScalarsTest, KeepTheirPlaceAmongOtherScalars) {
  SummaryWriter writer = open(withClock());
  writer.addScalar("t0", 10, 1);
  defer(writer, 1, 2);
  writer.addScalar("t0", 30, 3);
  expectOk(writer.close());
  const std::vector<event::Event> all = events();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[1].step, 2);
  EXPECT_EQ(writer.stats().stepRegressions, 0U);
}

TEST_F(DeferredScalarsTest, MayHaveExplicitWallTimes) {
  SummaryWriter writer = open();
  const ScalarTag tag = writer.scalarTag("loss");
  DeferredScalars::add(writer, 5, 1, 0,
                       [tag](DeferredScalars::Sink& sink) { sink.add(tag, 1, 1234.5); });
  expectOk(writer.close());
  const std::vector<event::Event> all = events();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].wallTime, 1234.5);
}

TEST_F(DeferredScalarsTest, AreCountedAsSoManyScalarsWhenTheyAreDropped) {
  WriterOptions options;
  options.queueBytes = 0;
  options.overflow = OverflowPolicy::kDropNewest;
  SummaryWriter writer = open(options);
  const auto hold = [](DeferredScalars::Sink&) {};
  DeferredScalars::add(writer, 0, 3, std::size_t{1} << 30, hold);
  while (writer.stats().droppedScalars == 0) {
    DeferredScalars::add(writer, 0, 40, std::size_t{1} << 30, hold);
  }
  EXPECT_EQ(writer.stats().droppedScalars, 40U);
  EXPECT_EQ(writer.stats().droppedValues, 0U);
}

TEST_F(DeferredScalarsTest, AreCountedAndReportedWhenTheyCannotBeMade) {
  SummaryWriter writer = open();
  DeferredScalars::add(writer, 0, 4, 0, [](DeferredScalars::Sink&) {
    throw std::runtime_error("no memory for it");
  });
  expectOk(writer.flush());
  EXPECT_EQ(writer.stats().droppedScalars, 4U);
  EXPECT_EQ(writer.stats().droppedValues, 0U);
  EXPECT_THAT(reports(), ElementsAre(HasSubstr("no memory for it")));
}

TEST_F(DeferredScalarsTest, ReportOnceWhatTheyFind) {
  SummaryWriter writer = open();
  for (int step = 0; step < 3; ++step) {
    DeferredScalars::add(writer, step, 1, 0, [step](DeferredScalars::Sink& sink) {
      sink.reportOnce("missing", "missing at step " + std::to_string(step));
    });
  }
  expectOk(writer.flush());
  EXPECT_THAT(reports(), ElementsAre("missing at step 0"));
}

TEST_F(DeferredScalarsTest, AreNotRequestedByADisabledWriter) {
  WriterOptions options;
  options.enabled = false;
  SummaryWriter writer = open(options);
  bool isCalled = false;
  DeferredScalars::add(writer, 0, 1, 0, [&isCalled](DeferredScalars::Sink&) { isCalled = true; });
  expectOk(writer.close());
  EXPECT_FALSE(isCalled);
  EXPECT_THAT(reports(), IsEmpty());
}

}  // namespace
}  // namespace steptape
