// SPDX-License-Identifier: Apache-2.0
//
// Runs that continue: from an earlier step, in a further file, with decreasing steps.
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "steptape/log/summary_writer.h"

#include "log/writer/run_contents.h"
#include "log/writer/writer_fixture.h"
#include "support/content_of.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::SizeIs;

class RunContinuationTest : public WriterFixture {
 protected:
  /// Returns the steps of the START records of one run, in the order in which readers meet them.
  static std::vector<std::int64_t> startsIn(const std::string& directory) {
    std::vector<std::int64_t> steps;
    for (const event::Event& event : eventsIn(directory)) {
      if (std::holds_alternative<event::SessionLog>(event.what)) {
        steps.push_back(event.step);
      }
    }
    return steps;
  }
};

constexpr std::int64_t kNothing = std::numeric_limits<std::int64_t>::max();

TEST_F(RunContinuationTest, ResumePurgesTheMainRunAndEverySubRun) {
  SummaryWriter writer = open();
  for (std::int64_t step = 0; step < 10; ++step) {
    writer.addScalar("loss", 1, step);
    writer.addScalars("group", {{"a", 1}}, step);
  }
  writer.resume(5);
  for (std::int64_t step = 5; step < 7; ++step) {
    writer.addScalar("loss", 2, step);
    writer.addScalars("group", {{"a", 2}}, step);
  }
  expectOk(writer.close());
  EXPECT_THAT(startsIn(dir_.string()), ElementsAre(0, 5));
  EXPECT_THAT(startsIn(dir_.string() + "/group/a"), ElementsAre(0, 5));
  EXPECT_THAT(scalarsIn(dir_.string()).at("loss"), SizeIs(12));
}

TEST_F(RunContinuationTest, ResumeSeparatesEarlierFromLaterPoints) {
  SummaryWriter writer = open();
  writer.addText("before", "text", 9);
  writer.addScalar("before", 1, 9);
  writer.resume(5);
  writer.addText("after", "text", 5);
  writer.addScalar("after", 1, 5);
  expectOk(writer.close());
  bool resumed = false;
  for (const event::Event& event : eventsIn(dir_.string())) {
    if (const auto* summary = std::get_if<event::Summary>(&event.what)) {
      for (const event::Value& value : summary->values) {
        EXPECT_EQ(value.tag, resumed ? "after" : "before");
      }
    }
    resumed = resumed || (std::holds_alternative<event::SessionLog>(event.what) && event.step == 5);
  }
  EXPECT_TRUE(resumed);
}

TEST_F(RunContinuationTest, ResumeMakesASmallerStepNoStepBack) {
  SummaryWriter writer = open();
  writer.addScalar("loss", 1, 100);
  writer.addText("note", "x", 100);
  writer.resume(50);
  writer.addScalar("loss", 1, 50);
  writer.addText("note", "x", 50);
  expectOk(writer.flush());
  EXPECT_EQ(writer.stats().stepRegressions, 0U);
  EXPECT_THAT(reports(), SizeIs(0));
}

TEST_F(RunContinuationTest, AStepBackIsReportedOncePerTagAndCounted) {
  SummaryWriter writer = open();
  for (const std::int64_t step : {100, 40, 200, 30, 300}) {
    writer.addScalar("loss", 1, step);
  }
  writer.addText("note", "x", 7);
  writer.addText("note", "x", 6);
  writer.addScalar("fine", 1, 1);
  writer.addScalar("fine", 1, 1);
  expectOk(writer.flush());
  EXPECT_EQ(writer.stats().stepRegressions, 3U);
  EXPECT_THAT(reports(),
              ElementsAre(AllOf(HasSubstr("\"loss\""), HasSubstr("got step 40 after step 100")),
                          AllOf(HasSubstr("\"note\""), HasSubstr("got step 6 after step 7"))));
  expectOk(writer.close());
  ASSERT_THAT(reports(), SizeIs(3));
  EXPECT_THAT(reports()[2], AllOf(HasSubstr("\"loss\""), HasSubstr("the step decreased 2 times")));
}

TEST_F(RunContinuationTest, APurgeStepIsWrittenToTheFirstFileOfEveryRunOnly) {
  WriterOptions options;
  options.purgeStep = 80;
  options.maxFileBytes = 1;
  SummaryWriter writer = open(options);
  for (std::int64_t step = 80; step < 83; ++step) {
    writer.addScalar("loss", 1, step);
    writer.addScalars("group", {{"a", 1}}, step);
    expectOk(writer.flush());
  }
  EXPECT_THAT(startsIn(dir_.string()), ElementsAre(80, kNothing, kNothing));
  EXPECT_THAT(startsIn(dir_.string() + "/group/a"), ElementsAre(80, kNothing, kNothing));
}

TEST_F(RunContinuationTest, AFileThatHasGrownToItsLimitIsFollowedByAnother) {
  WriterOptions options;
  options.maxFileBytes = 20000;
  SummaryWriter writer = open(options);
  for (std::int64_t step = 0; step < 2000; ++step) {
    writer.addScalar("loss", 1, step);
    if (step % 100 == 99) {
      expectOk(writer.flush());
    }
  }
  writer.addText("note", "x", 0);
  expectOk(writer.close());
  const std::vector<std::string> files = eventFilesIn(dir_.string());
  EXPECT_THAT(files, SizeIs(Ge(5U)));
  std::int64_t next = 0;
  const Curves curves = scalarsIn(dir_.string());
  for (const auto& [step, value] : curves.at("loss")) {
    EXPECT_EQ(step, next++);
  }
  EXPECT_EQ(next, 2000) << "the files' names sort in the order in which they were written";
}

TEST_F(RunContinuationTest, EveryFileDescribesItsTagsAgain) {
  WriterOptions options;
  options.maxFileBytes = 1;
  SummaryWriter writer = open(options);
  ScalarOptions names;
  names.displayName = "Loss";
  for (std::int64_t step = 0; step < 3; ++step) {
    writer.addScalar("loss", 1, step, names);
    writer.addText("note", "x", step);
    expectOk(writer.flush());
  }
  int described = 0;
  for (const event::Value& value : valuesIn(dir_.string())) {
    described += value.metadata.has_value() ? 1 : 0;
  }
  EXPECT_EQ(described, 6);
}

TEST_F(RunContinuationTest, AFileThatHasGrownOldIsFollowedByAnother) {
  WriterOptions options;
  options.maxFileAge = std::chrono::seconds(1);
  SummaryWriter writer = open(options);
  options.maxFileAge = std::chrono::hours(24);
  SummaryWriter young(dir_.string() + "/young", options);
  std::size_t steps = 0;
  while (eventFilesIn(dir_.string()).size() == 1) {  // for up to a second
    for (SummaryWriter* each : {&writer, &young}) {
      each->addScalar("loss", 1, static_cast<std::int64_t>(steps));
      expectOk(each->flush());
    }
    ++steps;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_THAT(scalarsIn(dir_.string()).at("loss"), SizeIs(steps));
  EXPECT_THAT(eventFilesIn(dir_.string() + "/young"), SizeIs(1));
}

TEST_F(RunContinuationTest, TheExportReadsEveryFile) {
  WriterOptions options;
  options.maxFileBytes = 1;
  SummaryWriter writer = open(options);
  for (std::int64_t step = 0; step < 3; ++step) {
    writer.addScalar("loss", 1, step);
    expectOk(writer.flush());
  }
  ASSERT_THAT(eventFilesIn(dir_.string()), SizeIs(3));
  const std::string path = dir_.string() + "/scalars.json";
  expectOk(writer.exportScalarsToJson(path));
  const std::string json = test::contentOf(path);
  for (const char* point : {", 0, 1]", ", 1, 1]", ", 2, 1]"}) {
    EXPECT_THAT(json, HasSubstr(point));
  }
}

class AddEventTest : public RunContinuationTest {};

TEST_F(AddEventTest, ASummaryIsWrittenAsItIs) {
  SummaryWriter writer = open();
  event::Value value;
  value.tag = "mine";
  event::Tensor tensor;
  tensor.type = event::TensorType::kString;
  tensor.strings = {"content"};
  value.data = tensor;
  value.metadata =
      event::SummaryMetadata{"my_plugin", "setting", "", "", event::DataClass::kTensor};
  ValueOptions options;
  options.wallTime = 1234.5;
  options.description = "what it is";
  writer.addSummary({{value}}, 3, options);
  expectOk(writer.flush());
  const std::vector<event::Event> events = eventsIn(dir_.string());
  ASSERT_THAT(events, SizeIs(3));
  EXPECT_EQ(events[2].wallTime, 1234.5);
  EXPECT_EQ(events[2].step, 3);
  const event::Value read = std::get<event::Summary>(events[2].what).values.at(0);
  EXPECT_EQ(read.tag, "mine");
  EXPECT_THAT(std::get<event::Tensor>(read.data).strings, ElementsAre("content"));
  EXPECT_EQ(read.metadata->pluginName, "my_plugin");
  EXPECT_EQ(read.metadata->pluginContent, "setting");
  EXPECT_EQ(read.metadata->description, "what it is");
}

TEST_F(AddEventTest, AnEventKeepsItsWallTimeOrGetsTheCallsOwn) {
  SummaryWriter writer = open();
  event::Event event;
  event.wallTime = 99.5;
  event.step = 4;
  event.what = event::TaggedRunMetadata{"step1", "bytes"};
  writer.addEvent(event);
  event.wallTime = 0;
  writer.addEvent(event);
  expectOk(writer.flush());
  const std::vector<event::Event> events = eventsIn(dir_.string());
  ASSERT_THAT(events, SizeIs(4));
  EXPECT_EQ(events[2].wallTime, 99.5);
  EXPECT_GT(events[3].wallTime, 1.5e9);
  EXPECT_EQ(std::get<event::TaggedRunMetadata>(events[3].what).bytes, "bytes");
}

TEST_F(AddEventTest, AnEventWithoutContentIsRefused) {
  SummaryWriter writer = open();
  try {
    writer.addEvent(event::Event());
    FAIL() << "it was taken";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("empty"));
  }
}

}  // namespace
}  // namespace steptape
