// SPDX-License-Identifier: Apache-2.0
#include "steptape/log/summary_writer.h"

#include <cmath>
#include <limits>
#include <set>
#include <thread>

#include "steptape/ranks/testing.h"

#include "log/writer/run_contents.h"
#include "log/writer/writer_fixture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::StartsWith;

using SummaryWriterTest = WriterFixture;

TEST_F(SummaryWriterTest, BeginsEachFileWithItsVersionAndAStart) {
  { SummaryWriter writer = open(); }
  const std::vector<event::Event> events = eventsIn(dir_.string());
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(std::get<event::FileVersion>(events[0].what).version, "brain.Event:2");
  EXPECT_EQ(events[0].sourceWriter, "steptape");
  EXPECT_EQ(std::get<event::SessionLog>(events[1].what).status, event::SessionLog::Status::kStart);
  EXPECT_EQ(events[1].step, 0);
}

TEST_F(SummaryWriterTest, StartsAtThePurgeStep) {
  WriterOptions options;
  options.purgeStep = 80;
  { SummaryWriter writer = open(options); }
  EXPECT_EQ(eventsIn(dir_.string())[1].step, 80);
}

TEST_F(SummaryWriterTest, PurgesNothingWhenItFollowsOtherFilesWithoutAPurgeStep) {
  { SummaryWriter first = open(); }
  { SummaryWriter second = open(); }
  const std::vector<std::string> files = eventFilesIn(dir_.string());
  ASSERT_THAT(files, SizeIs(2));
  EXPECT_EQ(eventsOf(files[1])[1].step, std::numeric_limits<std::int64_t>::max());
}

TEST_F(SummaryWriterTest, WritesScalarsOfEveryForm) {
  SummaryWriter writer = open();
  const ScalarTag loss = writer.scalarTag("loss");
  writer.addScalar(loss, 0.5, 1);
  writer.addScalar("loss", 0.25, 2);
  {
    StepBatch step = writer.atStep(3);
    step.add(loss, 0.125);
    step.add("accuracy", 1);
  }
  expectOk(writer.flush());
  const Curves curves = scalarsIn(dir_.string());
  EXPECT_THAT(curves.at("loss"), ElementsAre(Pair(1, 0.5F), Pair(2, 0.25F), Pair(3, 0.125F)));
  EXPECT_THAT(curves.at("accuracy"), ElementsAre(Pair(3, 1.0F)));
  EXPECT_EQ(writer.stats().scalars, 4U);
}

TEST_F(SummaryWriterTest, StoresNonFiniteScalarsUnchanged) {
  SummaryWriter writer = open();
  writer.addScalar("x", std::numeric_limits<double>::quiet_NaN(), 0);
  writer.addScalar("x", std::numeric_limits<double>::infinity(), 1);
  writer.addScalar("x", 1e300, 2);
  expectOk(writer.flush());
  const auto points = scalarsIn(dir_.string()).at("x");
  ASSERT_THAT(points, SizeIs(3));
  EXPECT_TRUE(std::isnan(points[0].second));
  EXPECT_EQ(points[1].second, std::numeric_limits<float>::infinity());
  EXPECT_EQ(points[2].second, std::numeric_limits<float>::infinity());
}

TEST_F(SummaryWriterTest, PutsTheScalarsOfABatchIntoOneEvent) {
  SummaryWriter writer = open();
  for (std::int64_t step = 0; step < 100; ++step) {
    StepBatch batch = writer.atStep(step);
    for (int tag = 0; tag < 10; ++tag) {
      batch.add("tag" + std::to_string(tag), tag);
    }
  }
  expectOk(writer.close());
  const std::vector<event::Event> events = eventsIn(dir_.string());
  ASSERT_THAT(events, SizeIs(2 + 100));
  for (std::size_t i = 2; i < events.size(); ++i) {
    EXPECT_THAT(std::get<event::Summary>(events[i].what).values, SizeIs(10));
    EXPECT_EQ(events[i].step, static_cast<std::int64_t>(i - 2));
  }
}

TEST_F(SummaryWriterTest, PutsScalarsOfOneStepMadeAtOnceIntoOneEvent) {
  WriterOptions options;
  options.coalesceWindow = std::chrono::minutes(1);
  SummaryWriter writer = open(options);
  writer.addScalar("a", 1, 7);
  writer.addScalar("b", 2, 7);
  writer.addScalar("a", 3, 8);
  expectOk(writer.close());
  EXPECT_THAT(eventsIn(dir_.string()), SizeIs(2 + 2));
}

TEST_F(SummaryWriterTest, KeepsBothValuesOfATagAtTheSameStep) {
  WriterOptions options;
  options.coalesceWindow = std::chrono::minutes(1);
  SummaryWriter writer = open(options);
  writer.addScalar("a", 1, 7);
  writer.addScalar("a", 2, 7);
  expectOk(writer.close());
  EXPECT_THAT(scalarsIn(dir_.string()).at("a"), ElementsAre(Pair(7, 1.0F), Pair(7, 2.0F)));
  EXPECT_THAT(eventsIn(dir_.string()), SizeIs(2 + 2));
}

TEST_F(SummaryWriterTest, KeepsAWallTimeOfTheCallersExactly) {
  SummaryWriter writer = open();
  ScalarOptions options;
  options.wallTime = 1234.000001;
  writer.addScalar("a", 1, 7, options);
  options.wallTime = 1234.000002;
  writer.addScalar("b", 1, 7, options);
  expectOk(writer.close());
  const std::vector<event::Event> events = eventsIn(dir_.string());
  ASSERT_THAT(events, SizeIs(4));
  EXPECT_EQ(events[2].wallTime, 1234.000001);
  EXPECT_EQ(events[3].wallTime, 1234.000002);
}

TEST_F(SummaryWriterTest, RefusesAWallTimeThatKillsTheFileForTensorBoard) {
  SummaryWriter writer = open();
  ScalarOptions options;
  options.wallTime = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(
      try { writer.addScalar("a", 1, 7, options); } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
        EXPECT_STREQ(error.what(), "wallTime: got nan; expected finite seconds since 1970");
        throw;
      },
      Error);
}

TEST_F(SummaryWriterTest, RecordsTheTimeOfTheCallWhichNeverDecreases) {
  const double before = Clock::system().wallSeconds();
  SummaryWriter writer = open();
  for (std::int64_t step = 0; step < 1000; ++step) {
    writer.addScalar("a", 1, step);
  }
  expectOk(writer.close());
  const double after = Clock::system().wallSeconds();
  double last = before;
  for (const event::Event& event : eventsIn(dir_.string())) {
    // The cycle counter's first calibration has an error of at most a thousandth of the elapsed
    // time.
    EXPECT_GE(event.wallTime, last - 0.01);
    EXPECT_LE(event.wallTime, after + 0.01);
    last = event.wallTime;
  }
}

TEST_F(SummaryWriterTest, DescribesATagWithItsFirstValueInEachFileOnly) {
  ScalarOptions names;
  names.displayName = "Loss";
  names.description = "cross-entropy";
  SummaryWriter writer = open();
  const ScalarTag loss = writer.scalarTag("loss", names);
  writer.addScalar(loss, 1, 1);
  writer.addScalar(loss, 1, 2);
  expectOk(writer.close());
  writer.addScalar(loss, 1, 3);
  expectOk(writer.close());

  const std::vector<event::Value> values = valuesIn(dir_.string());
  ASSERT_THAT(values, SizeIs(3));
  EXPECT_FALSE(values[1].metadata);
  for (const std::size_t first : {0U, 2U}) {
    ASSERT_TRUE(values[first].metadata);
    EXPECT_EQ(values[first].metadata->pluginName, "scalars");
    EXPECT_EQ(values[first].metadata->dataClass, event::DataClass::kScalar);
    EXPECT_EQ(values[first].metadata->displayName, "Loss");
    EXPECT_EQ(values[first].metadata->description, "cross-entropy");
  }
  EXPECT_THAT(eventFilesIn(dir_.string()), SizeIs(2));
}

TEST_F(SummaryWriterTest, WritesAScalarAsASimpleValueThatNeedsNoMetadata) {
  SummaryWriter writer = open();
  writer.addScalar("loss", 0.5, 1);
  writer.addScalar("loss", 0, 2);
  expectOk(writer.close());
  const std::vector<event::Value> values = valuesIn(dir_.string());
  ASSERT_THAT(values, SizeIs(2));
  EXPECT_EQ(scalarOf(values[0]), 0.5F);
  EXPECT_EQ(scalarOf(values[1]), 0.0F);
  EXPECT_FALSE(values[0].metadata);
}

TEST_F(SummaryWriterTest, WritesTensorsOnlyIfAskedTo) {
  WriterOptions options;
  options.valueForm = ValueForm::kTensor;
  SummaryWriter writer = open(options);
  const std::vector<std::uint8_t> pixels(2 * 3 * 3);
  writer.addScalar("scalar", 1, 1);
  writer.addHistogram("histogram", std::vector<float>{1, 2, 3}, 1);
  writer.addImage("image", TensorView(pixels.data(), {3, 2, 3}), 1);
  writer.addImages("images", TensorView(pixels.data(), {1, 3, 2, 3}), 1);
  writer.addVideo("video", TensorView(pixels.data(), {1, 1, 3, 2, 3}), 1);
  writer.addAudio("audio", std::vector<float>(8), 1);
  expectOk(writer.close());
  const std::vector<event::Value> values = valuesIn(dir_.string());
  ASSERT_THAT(values, SizeIs(6));
  for (const event::Value& value : values) {
    EXPECT_TRUE(std::holds_alternative<event::Tensor>(value.data)) << value.tag;
    EXPECT_TRUE(value.metadata) << value.tag;
  }
}

TEST_F(SummaryWriterTest, WritesCurvesOfOneChartAsSubRuns) {
  SummaryWriter writer = open();
  for (std::int64_t step = 0; step < 3; ++step) {
    const double x = static_cast<double>(step);
    writer.addScalars("run_14h", {{"xsinx", x}, {"xcosx", 2 * x}}, step);
  }
  expectOk(writer.close());
  EXPECT_THAT(scalarsIn(dir_.string() + "/run_14h/xsinx").at("run_14h"),
              ElementsAre(Pair(0, 0.0F), Pair(1, 1.0F), Pair(2, 2.0F)));
  EXPECT_THAT(scalarsIn(dir_.string() + "/run_14h/xcosx").at("run_14h"),
              ElementsAre(Pair(0, 0.0F), Pair(1, 2.0F), Pair(2, 4.0F)));
  EXPECT_EQ(writer.stats().files, 3U);
}

TEST_F(SummaryWriterTest, DistinguishesTagsFromCurvesOfAChart) {
  SummaryWriter writer = open();
  writer.addScalars("main", {{"sub", 1}}, 0);
  const std::string tag("main\0sub", 8);
  writer.addScalar(tag, 2, 0);
  expectOk(writer.close());
  EXPECT_THAT(scalarsIn(dir_.string()).at(tag), ElementsAre(Pair(0, 2.0F)));
  EXPECT_THAT(scalarsIn(dir_.string() + "/main/sub").at("main"), ElementsAre(Pair(0, 1.0F)));
}

TEST_F(SummaryWriterTest, PurgesSubRunsAsWell) {
  WriterOptions options;
  options.purgeStep = 5;
  SummaryWriter writer = open(options);
  writer.addScalars("main", {{"a", 1}}, 5);
  expectOk(writer.close());
  EXPECT_EQ(eventsIn(dir_.string() + "/main/a")[1].step, 5);
}

TEST_F(SummaryWriterTest, RefusesSubRunsThatLeaveTheRun) {
  SummaryWriter writer = open();
  EXPECT_THROW(
      try {
        writer.addScalars("a", {{"../../etc", 1}}, 0);
      } catch (const Error& error) {
        EXPECT_THAT(
            error.what(),
            HasSubstr("addScalars \"../../etc\": got a path that leaves the run's directory"));
        throw;
      },
      Error);
}

TEST_F(SummaryWriterTest, RefusesAnEmptyTagInEveryCall) {
  SummaryWriter writer = open();
  const std::vector<float> values{1};
  EXPECT_THROW(writer.scalarTag(""), Error);
  EXPECT_THROW(writer.addScalar("", 1, 0), Error);
  EXPECT_THROW(writer.atStep(0).add("", 1), Error);
  EXPECT_THROW(writer.addScalars("", {{"a", 1}}, 0), Error);
  EXPECT_THROW(writer.addScalars("a", {{"", 1}}, 0), Error);
  EXPECT_THROW(writer.addHistogram("", values, 0), Error);
  EXPECT_THROW(writer.addHistogramRaw("", {}, 0), Error);
  EXPECT_THROW(writer.addImage("", TensorView(values.data(), {1, 1, 1}), 0), Error);
  EXPECT_THROW(writer.addText("", "x", 0), Error);
}

TEST_F(SummaryWriterTest, ReplacesInvalidUtf8InATagAndReportsItOnce) {
  SummaryWriter writer = open();
  writer.addScalar("caf\xe9", 1, 0);
  writer.addScalar("caf\xe9", 2, 1);
  expectOk(writer.flush());
  EXPECT_THAT(scalarsIn(dir_.string()).at("caf\xef\xbf\xbd"), SizeIs(2));
  EXPECT_THAT(
      reports(),
      ElementsAre("tag \"caf\xef\xbf\xbd\": got invalid UTF-8, which is replaced by U+FFFD: tags "
                  "that differ only there become one"));
}

TEST_F(SummaryWriterTest, WritesHistogramsImagesAndTexts) {
  SummaryWriter writer = open();
  writer.addHistogram("histogram", std::vector<float>{1, 2, 3}, 4);
  const std::vector<std::uint8_t> pixels(3 * 2 * 5, 128);
  writer.addImage("image", TensorView(pixels.data(), {3, 2, 5}), 5);
  writer.addText("text", "**bold**", 6);
  expectOk(writer.close());

  const std::vector<event::Value> values = valuesIn(dir_.string());
  ASSERT_THAT(values, SizeIs(3));
  EXPECT_EQ(std::get<event::SummaryHistogram>(values[0].data).num, 3);
  const auto& image = std::get<event::SummaryImage>(values[1].data);
  EXPECT_EQ(image.width, 5);
  EXPECT_EQ(image.height, 2);
  EXPECT_THAT(image.encoded, StartsWith("\x89PNG"));
  EXPECT_THAT(std::get<event::Tensor>(values[2].data).strings, ElementsAre("**bold**"));
  EXPECT_EQ(writer.stats().values, 3U);
}

TEST_F(SummaryWriterTest, HasCopiedItsArgumentsWhenACallReturns) {
  SummaryWriter writer = open();
  std::vector<float> values{1, 1, 1};
  writer.addHistogram("histogram", values, 0);
  values.assign(3, -5);
  std::vector<std::uint8_t> pixels(1, 200);
  writer.addImage("image", TensorView(pixels.data(), {1, 1, 1}), 0);
  pixels.clear();
  pixels.shrink_to_fit();
  expectOk(writer.close());
  const std::vector<event::Value> written = valuesIn(dir_.string());
  EXPECT_EQ(std::get<event::SummaryHistogram>(written[0].data).min, 1);
}

TEST_F(SummaryWriterTest, ReportsOnceValuesThatNoBucketCanHold) {
  SummaryWriter writer = open();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  writer.addHistogram("h", std::vector<float>{1, nan}, 0);
  writer.addHistogram("h", std::vector<float>{1, nan}, 1);
  expectOk(writer.flush());
  EXPECT_THAT(reports(), ElementsAre("addHistogram \"h\": left out 1 NaN, 0 +Inf and 0 -Inf of 2 "
                                     "values; further ones of this tag are not reported"));
  EXPECT_THAT(valuesIn(dir_.string()), SizeIs(2));
}

TEST_F(SummaryWriterTest, KeepsTheStepOrderOfEveryThread) {
  constexpr int kThreads = 8;
  constexpr std::int64_t kSteps = 5000;
  SummaryWriter writer = open();
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&writer, thread] {
      const std::string tag = "thread" + std::to_string(thread);
      for (std::int64_t step = 0; step < kSteps; ++step) {
        writer.addScalar(tag, static_cast<double>(step), step);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  expectOk(writer.flush());
  const Curves curves = scalarsIn(dir_.string());
  ASSERT_THAT(curves, SizeIs(kThreads));
  for (const auto& [tag, points] : curves) {
    ASSERT_THAT(points, SizeIs(kSteps)) << tag;
    for (std::int64_t step = 0; step < kSteps; ++step) {
      ASSERT_EQ(points[static_cast<std::size_t>(step)].first, step) << tag;
    }
  }
}

TEST_F(SummaryWriterTest, FlushesWhatOtherThreadsLoggedBefore) {
  SummaryWriter writer = open();
  std::thread([&writer] { writer.addScalar("a", 1, 1); }).join();
  expectOk(writer.flush());
  EXPECT_THAT(scalarsIn(dir_.string()).at("a"), SizeIs(1));
}

TEST_F(SummaryWriterTest, WritesWithoutAFlushWithinThePeriod) {
  WriterOptions options;
  options.flushPeriod = std::chrono::milliseconds(10);
  SummaryWriter writer = open(options);
  writer.addScalar("a", 1, 1);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (scalarsIn(dir_.string()).empty() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_THAT(scalarsIn(dir_.string()), SizeIs(1));
}

TEST_F(SummaryWriterTest, GivesTwoWritersOfOneDirectoryAFileEach) {
  SummaryWriter first = open();
  SummaryWriter second = open();
  first.addScalar("first", 1, 1);
  second.addScalar("second", 1, 1);
  expectOk(first.close());
  expectOk(second.close());
  EXPECT_THAT(eventFilesIn(dir_.string()), SizeIs(2));
  EXPECT_THAT(scalarsIn(dir_.string()), SizeIs(2));
}

TEST_F(SummaryWriterTest, WorksAfterAMove) {
  SummaryWriter writer = open();
  const ScalarTag tag = writer.scalarTag("a");
  SummaryWriter moved = std::move(writer);
  moved.addScalar(tag, 1, 1);
  moved = open();
  moved.addScalar("b", 1, 1);
  expectOk(moved.close());
  EXPECT_THAT(scalarsIn(dir_.string()), SizeIs(2));
}

TEST_F(SummaryWriterTest, AppendsTheSuffixToTheFileName) {
  WriterOptions options;
  options.filenameSuffix = ".mine";
  { SummaryWriter writer = open(options); }
  EXPECT_THAT(eventFilesIn(dir_.string())[0], MatchesRegex(".*\\.mine"));
}

TEST_F(SummaryWriterTest, TakesTheTimeFromTheClockItIsGiven) {
  auto clock = std::make_shared<testing::FakeClock>(1000);
  WriterOptions options;
  options.clock = clock;
  SummaryWriter writer = open(options);
  writer.addScalar("a", 1, 1);
  clock->advance(std::chrono::seconds(5));
  writer.atStep(2).add("a", 1);
  writer.addText("t", "x", 3);
  expectOk(writer.close());
  std::vector<double> times;
  for (const event::Event& event : eventsIn(dir_.string())) {
    times.push_back(event.wallTime);
  }
  EXPECT_THAT(times, ElementsAre(1000, 1000, 1000, 1005, 1005));
}

TEST(SummaryWriter, IsANoOpWhenItIsNotEnabled) {
  testing::TempDir dir;
  WriterOptions options;
  options.enabled = false;
  SummaryWriter writer(dir.string() + "/run", options);
  writer.addScalar(writer.scalarTag("a"), 1, 1);
  writer.addScalar("a", 1, 1);
  writer.atStep(1).add("a", 1);
  writer.addScalars("a", {{"b", 1}}, 1);
  writer.addHistogram("h", std::vector<float>{1}, 1);
  writer.addText("t", "x", 1);
  EXPECT_TRUE(writer.flush().ok());
  EXPECT_TRUE(writer.exportScalarsToJson(dir.string() + "/all.json").ok());
  EXPECT_TRUE(writer.close().ok());
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
  EXPECT_EQ(writer.stats().scalars, 0U);
}

TEST(SummaryWriter, ThrowsIfTheDirectoryCannotBeMade) {
  testing::TempDir dir;
  std::fclose(std::fopen((dir.string() + "/file").c_str(), "w"));
  EXPECT_THROW(
      try { SummaryWriter writer(dir.string() + "/file/run"); } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kIoError);
        EXPECT_THAT(error.what(),
                    AllOf(HasSubstr("cannot create the directory " + dir.string() + "/file/run"),
                          HasSubstr("Not a directory")));
        throw;
      },
      Error);
}

TEST(SummaryWriter, ThrowsIfTheDirectoryIsEmpty) {
  EXPECT_THROW(SummaryWriter writer(std::string{}), Error);
}

TEST(SummaryWriter, NamesItsDefaultDirectoryByTimeAndHost) {
  testing::TempDir dir;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(dir.path());
  WriterOptions options;
  options.comment = "_lr0.1";
  const SummaryWriter writer(options);
  std::filesystem::current_path(before);
  EXPECT_THAT(writer.logDir(), MatchesRegex("runs/[A-Z][a-z][a-z][0-9][0-9]_[0-9][0-9]-[0-9][0-9]-"
                                            "[0-9][0-9]_.+_lr0\\.1"));
  EXPECT_TRUE(std::filesystem::exists(dir.path() / writer.logDir()));
}

TEST(SummaryWriter, IsMadeAndDestroyedByManyThreadsAtOnce) {
  testing::TempDir dir;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&dir] {
      for (int i = 0; i < 50; ++i) {
        SummaryWriter writer(dir.string());
        writer.addScalar("a", i, i);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_THAT(eventFilesIn(dir.string()), SizeIs(200));
  EXPECT_THAT(scalarsIn(dir.string()).at("a"), SizeIs(200));
}

}  // namespace
}  // namespace steptape
