// SPDX-License-Identifier: Apache-2.0
#include "log/reader/run_events.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

#include "steptape/log/run_reader.h"

#include "events/framing/record_bytes.h"
#include "log/reader/log_dir_fixture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using detail::log::RunEvents;
using detail::log::RunEventsOptions;
using detail::log::RunValue;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class RunEventsTest : public LogDirFixture {
 protected:
  /// Returns each value as "tag@step=number", or "tag@step" if it is not a scalar.
  std::vector<std::string> read(RunEventsOptions options = {}) {
    RunEvents run(listRuns(root_).at(0), std::move(options));
    std::vector<std::string> values;
    RunValue value;
    while (run.next(&value)) {
      std::string text = run.tags()[value.tag].name + "@" + std::to_string(value.step);
      if (value.data == nullptr) {
        text += "=" + std::to_string(static_cast<int>(value.scalar));
      }
      values.push_back(std::move(text));
    }
    damage_ = run.damage();
    return values;
  }
  std::vector<std::string> readWith(PurgePolicy purge) {
    RunEventsOptions options;
    options.purge = purge;
    return read(options);
  }

  std::vector<Damage> damage_;
};

TEST_F(RunEventsTest, GivesTheValuesOfAllFilesInTheOrderOfWriting) {
  writeEvents(kLaterFile, {simpleScalar("b", 4, 2)});
  writeEvents(kFile, {simpleScalar("b", 1, 1), simpleScalar("a", 2, 1), simpleScalar("b", 3, 1)});
  EXPECT_THAT(read(), ElementsAre("b@1=1", "a@1=2", "b@1=3", "b@2=4"));
}

TEST_F(RunEventsTest, GivesTimesAndExactNumbers) {
  const event::Value value =
      ofScalarsPlugin(tensorValue<double>("x", event::TensorType::kDouble, {0.1}));
  writeEvents(kFile, {eventAt(-7, event::Summary{{value}})});
  RunEvents run(listRuns(root_).at(0));
  RunValue got;
  ASSERT_TRUE(run.next(&got));
  EXPECT_EQ(got.wallTime, 993);
  EXPECT_EQ(got.step, -7);
  EXPECT_EQ(got.scalar, 0.1);
  EXPECT_FALSE(run.next(&got));
  EXPECT_FALSE(run.next(&got));
}

TEST_F(RunEventsTest, ReturnsOtherValuesUnchanged) {
  const event::Value tensor = tensorValue<float>("raw", event::TensorType::kFloat, {1, 2});
  writeEvents(kFile, {eventAt(3, event::Summary{{tensor}})});
  RunEvents run(listRuns(root_).at(0));
  RunValue value;
  ASSERT_TRUE(run.next(&value));
  ASSERT_NE(value.data, nullptr);
  EXPECT_THAT(std::get<event::Tensor>(value.data->data).shape, ElementsAre(2));
}

TEST_F(RunEventsTest, ClassifiesANumberByTheFirstMetadataOfItsTag) {
  event::Value histogram = tensorValue<float>("h", event::TensorType::kFloat, {1});
  histogram.metadata.emplace();
  histogram.metadata->pluginName = "histograms";
  const event::Value early = tensorValue<float>("early", event::TensorType::kFloat, {1});
  const event::Value unknown = tensorValue<float>("unknown", event::TensorType::kFloat, {1});
  writeEvents(kFile, {eventAt(1, event::Summary{{histogram, early, unknown}}),
                      eventAt(2, event::Summary{{ofScalarsPlugin(early)}})});
  EXPECT_THAT(read(), ElementsAre("h@1", "early@1=1", "unknown@1", "early@2=1"));
}

TEST_F(RunEventsTest, GivesANumberOfAnUnknownPluginAsATensor) {
  writeEvents(kFile, {eventAt(1, event::Summary{{tensorValue<float>(
                                     "unknown", event::TensorType::kFloat, {0.5F})}})});
  RunEvents run(listRuns(root_).at(0));
  RunValue value;
  ASSERT_TRUE(run.next(&value));
  ASSERT_NE(value.data, nullptr);
  EXPECT_EQ(std::get<event::Tensor>(value.data->data).content, std::string("\0\0\0\x3f", 4));
}

TEST_F(RunEventsTest, GivesGraphsWithTheNamesThatReadersKnow) {
  writeEvents(kFile, {eventAt(0, event::GraphDef{"graph"}),
                      eventAt(0, event::TaggedRunMetadata{"step1", "m"})});
  RunEvents run(listRuns(root_).at(0));
  RunValue value;
  ASSERT_TRUE(run.next(&value));
  EXPECT_EQ(run.tags()[value.tag].name, "__run_graph__");
  EXPECT_EQ(run.tags()[value.tag].metadata.pluginName, "graphs");
  EXPECT_THAT(std::get<event::Tensor>(value.data->data).strings, ElementsAre("graph"));
  ASSERT_TRUE(run.next(&value));
  EXPECT_EQ(run.tags()[value.tag].name, "step1");
}

TEST_F(RunEventsTest, DropsWhatARestartWritesAgain) {
  writeEvents(kFile, {start(0), simpleScalar("x", 1, 1), simpleScalar("x", 2, 2),
                      simpleScalar("x", 3, 3), eventAt(9, event::GraphDef{"graph"})});
  writeEvents(kLaterFile, {start(2), simpleScalar("x", 20, 2)});
  EXPECT_THAT(read(), ElementsAre("x@1=1", "__run_graph__@9", "x@2=20"));
}

TEST_F(RunEventsTest, DiscardsAtTheSmallestStepOfLaterRestarts) {
  writeEvents(kFile,
              {simpleScalar("x", 1, 1), simpleScalar("x", 5, 5), start(6), simpleScalar("x", 7, 7),
               start(5), simpleScalar("x", 50, 5), start(8), simpleScalar("x", 8, 8), start(3),
               simpleScalar("x", 30, 3), start(4), simpleScalar("x", 40, 4)});
  EXPECT_THAT(read(), ElementsAre("x@1=1", "x@3=30", "x@4=40"));
}

TEST_F(RunEventsTest, KeepsWhatTensorBoardsServerKeepsAtTheFirstRestart) {
  writeEvents(kFile, {version(), simpleScalar("x", 1, 1), simpleScalar("x", 2, 2), start(1),
                      simpleScalar("x", 10, 1), start(2), simpleScalar("x", 20, 2)});
  EXPECT_THAT(readWith(PurgePolicy::kTensorBoardServer), ElementsAre("x@1=1", "x@1=10", "x@2=20"));
}

TEST_F(RunEventsTest, TreatsAFileWithADamagedVersionAsNew) {
  std::string bytes = framed({version(), simpleScalar("x", 2, 2), simpleScalar("x", 1, 1)});
  bytes.front() = static_cast<char>(~bytes.front());
  writeBytes(kFile, bytes);
  EXPECT_THAT(readWith(PurgePolicy::kRestarts), ElementsAre("x@2=2", "x@1=1"));
}

TEST_F(RunEventsTest, GivesEverythingIfNothingIsPurged) {
  writeEvents(kFile, {version("brain.Event:1"), simpleScalar("x", 2, 2), start(1),
                      simpleScalar("x", 10, 1)});
  EXPECT_THAT(readWith(PurgePolicy::kNone), ElementsAre("x@2=2", "x@1=10"));
}

TEST_F(RunEventsTest, DiscardsByTagWhenAStepDecreasesInFilesWithoutRestarts) {
  writeEvents(kFile, {version("brain.Event:1"), simpleScalar("x", 1, 1), simpleScalar("x", 2, 2),
                      simpleScalar("y", 3, 2), simpleScalar("x", 20, 2), simpleScalar("x", 3, 3),
                      simpleScalar("x", 21, 2)});
  EXPECT_THAT(read(), ElementsAre("x@1=1", "y@2=3", "x@2=21"));
}

TEST_F(RunEventsTest, DropsNothingByStepInFilesThatHaveRestarts) {
  writeEvents(kFile, {version("brain.Event:2"), simpleScalar("x", 2, 2), simpleScalar("x", 1, 1)});
  EXPECT_THAT(read(), ElementsAre("x@2=2", "x@1=1"));
}

TEST_F(RunEventsTest, ContinuesAfterDamage) {
  std::string bytes = framed({simpleScalar("x", 1, 1), simpleScalar("x", 2, 2)});
  const std::size_t size = bytes.size() / 2;
  bytes[size / 2] = static_cast<char>(~bytes[size / 2]);
  const std::string file = writeBytes(kFile, bytes);
  EXPECT_THAT(read(), ElementsAre("x@2=2"));
  ASSERT_THAT(damage_, SizeIs(1));
  EXPECT_EQ(damage_[0].path, file);
  EXPECT_EQ(damage_[0].offset, 0);
  EXPECT_EQ(damage_[0].bytes, size);
}

TEST_F(RunEventsTest, ReportsARecordThatIsNotAnEvent) {
  writeBytes(kFile, recordOf("\xff\xff") + framed({simpleScalar("x", 1, 1)}));
  EXPECT_THAT(read(), ElementsAre("x@1=1"));
  ASSERT_THAT(damage_, SizeIs(1));
  EXPECT_THAT(damage_[0].status.message(), HasSubstr(" at offset 0 of "));
}

TEST_F(RunEventsTest, ReportsAFileThatEndsInsideARecord) {
  const std::string bytes = framed({simpleScalar("x", 1, 1), simpleScalar("x", 2, 2)});
  writeBytes(kFile, bytes.substr(0, bytes.size() - 1));
  EXPECT_THAT(read(), ElementsAre("x@1=1"));
  ASSERT_THAT(damage_, SizeIs(1));
  EXPECT_EQ(damage_[0].outcome, ReadOutcome::kTruncated);
}

TEST_F(RunEventsTest, ReportsAMissingFile) {
  RunFiles run{"run", root_, {path("absent")}, false};
  RunEvents events(run);
  RunValue value;
  EXPECT_FALSE(events.next(&value));
  ASSERT_THAT(events.damage(), SizeIs(1));
  EXPECT_EQ(events.damage()[0].outcome, ReadOutcome::kIoError);
}

TEST_F(RunEventsTest, ReportsAFileThatIsRemovedBetweenThePasses) {
  const std::string file = writeEvents(kFile, {simpleScalar("x", 1, 1)});
  RunEvents run(listRuns(root_).at(0));
  std::filesystem::remove(file);
  RunValue value;
  EXPECT_FALSE(run.next(&value));
  ASSERT_THAT(run.damage(), SizeIs(1));
  EXPECT_THAT(run.damage()[0].status.message(), HasSubstr(file));
}

TEST_F(RunEventsTest, ReportsAFileThatBecomesShorterBetweenThePasses) {
  const std::string first = framed({simpleScalar("x", 1, 1)});
  const std::string both = first + framed({simpleScalar("x", 2, 2)});
  for (const std::string& left : {first, std::string()}) {
    const std::string file = writeBytes(kFile, both);
    RunEvents run(listRuns(root_).at(0));
    writeBytes(kFile, left);
    std::size_t values = 0;
    for (RunValue value; run.next(&value);) {
      ++values;
    }
    EXPECT_EQ(values, left.empty() ? 0U : 1U);
    ASSERT_THAT(run.damage(), SizeIs(1));
    EXPECT_EQ(run.damage()[0].outcome, ReadOutcome::kIoError);
    EXPECT_EQ(run.damage()[0].offset, left.size());
    EXPECT_EQ(run.damage()[0].status.message(),
              "file became shorter: got " + std::to_string(left.size()) + " bytes; expected " +
                  std::to_string(both.size()) + " of " + file);
  }
}

TEST_F(RunEventsTest, ReportsDamageBetweenThePassesOnce) {
  const std::string record = framed({simpleScalar("x", 1, 1)});
  std::string bytes = record + record + record + record;
  bytes[20] = static_cast<char>(~bytes[20]);
  writeBytes(kFile, bytes);
  RunEvents run(listRuns(root_).at(0));
  EXPECT_THAT(run.damage(), SizeIs(1));
  bytes[2 * record.size() + 20] = static_cast<char>(~bytes[2 * record.size() + 20]);
  writeBytes(kFile, bytes);
  std::size_t values = 0;
  for (RunValue value; run.next(&value);) {
    ++values;
  }
  EXPECT_EQ(values, 2U);
  ASSERT_THAT(run.damage(), SizeIs(2));
  EXPECT_EQ(run.damage()[1].offset, 2 * record.size());
}

TEST_F(RunEventsTest, LeavesOutTheTagsOfAFileThatIsReplacedBetweenThePasses) {
  writeEvents(kFile, {simpleScalar("x", 1, 1), simpleScalar("x", 2, 2)});
  RunEvents run(listRuns(root_).at(0));
  writeEvents(kFile, {simpleScalar("y", 1, 1), simpleScalar("x", 3, 3)});
  RunValue value;
  ASSERT_TRUE(run.next(&value));
  EXPECT_EQ(run.tags()[value.tag].name, "x");
  EXPECT_EQ(value.step, 3);
  EXPECT_FALSE(run.next(&value));
  EXPECT_THAT(run.tags(), SizeIs(1));
}

TEST_F(RunEventsTest, DoesNotListTheTagOfAnEmptyValue) {
  const event::Value nothing{"nothing", std::monostate(), std::nullopt};
  writeEvents(kFile, {eventAt(1, event::Summary{{nothing}}), simpleScalar("x", 1, 1)});
  RunEvents run(listRuns(root_).at(0));
  ASSERT_THAT(run.tags(), SizeIs(1));
  EXPECT_EQ(run.tags()[0].name, "x");
}

TEST_F(RunEventsTest, GivesScalarsAndOtherValuesInTurn) {
  event::Tensor text;
  text.type = event::TensorType::kString;
  text.strings = {"text"};
  event::Value note{"note", text, event::SummaryMetadata()};
  note.metadata->pluginName = event::kTextPlugin;
  writeEvents(kFile, {simpleScalar("x", 1, 1), eventAt(2, event::Summary{{note, note}}),
                      simpleScalar("x", 3, 3), eventAt(4, event::Summary{{note}})});
  EXPECT_THAT(read(), ElementsAre("x@1=1", "note@2", "note@2", "x@3=3", "note@4"));
}

TEST_F(RunEventsTest, LeavesOutDataWrittenBetweenThePasses) {
  const std::string first = framed({simpleScalar("x", 1, 1)});
  writeBytes(kFile, first);
  RunEvents run(listRuns(root_).at(0));
  writeBytes(kFile, first + framed({start(0), simpleScalar("new", 2, 2)}));
  RunValue value;
  EXPECT_TRUE(run.next(&value));
  EXPECT_FALSE(run.next(&value));
  EXPECT_THAT(run.damage(), IsEmpty());
}

TEST_F(RunEventsTest, CountsTheBytesOfBothPasses) {
  std::vector<event::Event> events;
  for (int i = 0; i < 40; ++i) {
    event::Value value;
    value.tag = "big";
    value.data = event::SummaryImage{1, 1, 3, std::string(1 << 20, 'x')};
    events.push_back(eventAt(i, event::Summary{{value}}));
  }
  const std::uint64_t size = std::filesystem::file_size(writeEvents(kFile, events));
  std::vector<std::uint64_t> reports;
  RunEventsOptions options;
  options.onProgress = [&](std::uint64_t bytes) { reports.push_back(bytes); };
  EXPECT_THAT(read(options), SizeIs(40));
  ASSERT_THAT(reports, SizeIs(::testing::Ge(8)));
  EXPECT_TRUE(std::is_sorted(reports.begin(), reports.end()));
  EXPECT_GT(reports.back(), size * 3 / 2);
  EXPECT_LE(reports.back(), size * 2);
}

using Point = std::tuple<std::string, double, std::int64_t, double>;

TEST(RunEventsOfPeers, AreThoseOfRunReader) {
  for (const char* file : {"torch.tfevents", "tensorboardx.tfevents"}) {
    const RunFiles run = listRuns(std::string(STEPTAPE_SOURCE_DIR "/tests/golden/") + file).at(0);
    std::vector<Point> streamed;
    RunEvents events(run);
    RunValue value;
    while (events.next(&value)) {
      if (value.data == nullptr) {
        streamed.emplace_back(events.tags()[value.tag].name, value.wallTime, value.step,
                              value.scalar);
      }
    }
    RunReader reader(run);
    reader.update();
    std::vector<Point> held;
    for (const auto& [tag, series] : reader.tags()) {
      for (std::size_t i = 0; i < series.scalars.size(); ++i) {
        held.emplace_back(tag, series.scalars.wallTimes[i], series.scalars.steps[i],
                          series.scalars.values[i]);
      }
    }
    std::stable_sort(streamed.begin(), streamed.end(), [](const Point& a, const Point& b) {
      return std::get<0>(a) < std::get<0>(b);
    });
    // Compared as text, because NaN differs from itself.
    EXPECT_EQ(::testing::PrintToString(streamed), ::testing::PrintToString(held)) << file;
    EXPECT_FALSE(held.empty());
  }
}

}  // namespace
}  // namespace steptape
