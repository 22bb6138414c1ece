// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "steptape/log/run_reader.h"

#include "log/reader/log_dir_fixture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

class ReadScalars : public LogDirFixture {
 protected:
  ScalarsByTag read() const { return readScalars(root_); }
  std::vector<std::pair<std::int64_t, float>> points(const std::string& tag) const {
    std::vector<std::pair<std::int64_t, float>> result;
    ScalarsByTag scalars = read();
    for (const ScalarPoint& point : scalars[tag]) {
      result.emplace_back(point.step, point.value);
    }
    return result;
  }
};

TEST_F(ReadScalars, ReadsSimpleValues) {
  writeEvents(kFile, {simpleScalar("loss", 2, 1), simpleScalar("loss", 1, 2)});
  EXPECT_THAT(points("loss"), ElementsAre(Pair(1, 2), Pair(2, 1)));
  EXPECT_EQ(read()["loss"][0].wallTime, 1001);
}

TEST_F(ReadScalars, ReadsTensorsOfTheScalarsPlugin) {
  const event::Value first =
      ofScalarsPlugin(tensorValue<float>("loss", event::TensorType::kFloat, {2}));
  const event::Value later = tensorValue<float>("loss", event::TensorType::kFloat, {1});
  writeEvents(kFile, {eventAt(1, event::Summary{{first}}), eventAt(2, event::Summary{{later}})});
  EXPECT_THAT(points("loss"), ElementsAre(Pair(1, 2), Pair(2, 1)));
}

TEST_F(ReadScalars, ReadsDoubles) {
  const event::Value value =
      ofScalarsPlugin(tensorValue<double>("loss", event::TensorType::kDouble, {0.5}));
  writeEvents(kFile, {eventAt(1, event::Summary{{value}})});
  EXPECT_THAT(points("loss"), ElementsAre(Pair(1, 0.5F)));
}

TEST_F(ReadScalars, ReadsAllScalarsOfOneEvent) {
  const event::Value a = ofScalarsPlugin(tensorValue<float>("a", event::TensorType::kFloat, {1}));
  const event::Value b = ofScalarsPlugin(tensorValue<float>("b", event::TensorType::kFloat, {2}));
  writeEvents(kFile, {eventAt(7, event::Summary{{a, b}})});
  EXPECT_THAT(points("a"), ElementsAre(Pair(7, 1)));
  EXPECT_THAT(points("b"), ElementsAre(Pair(7, 2)));
}

TEST_F(ReadScalars, LeavesOutOtherPlugins) {
  event::Value value = tensorValue<float>("histogram", event::TensorType::kFloat, {1});
  value.metadata.emplace();
  value.metadata->pluginName = "histograms";
  const event::Value unknown = tensorValue<float>("unknown", event::TensorType::kFloat, {1});
  writeEvents(kFile, {eventAt(1, event::Summary{{value, unknown}})});
  EXPECT_THAT(read(), IsEmpty());
}

TEST_F(ReadScalars, LeavesOutTensorsThatAreNotOneNumber) {
  const event::Value two =
      ofScalarsPlugin(tensorValue<float>("two", event::TensorType::kFloat, {1, 2}));
  const event::Value none =
      ofScalarsPlugin(tensorValue<float>("none", event::TensorType::kFloat, {}));
  writeEvents(kFile, {eventAt(1, event::Summary{{two, none}})});
  EXPECT_THAT(read(), IsEmpty());
}

TEST_F(ReadScalars, MergesTheFilesOfARun) {
  writeEvents(kLaterFile, {simpleScalar("loss", 1, 2)});
  writeEvents(kFile, {simpleScalar("loss", 2, 1)});
  EXPECT_THAT(points("loss"), ElementsAre(Pair(1, 2), Pair(2, 1)));
}

TEST_F(ReadScalars, DropsWhatARestartWritesAgain) {
  writeEvents(kFile, {version(), start(0), simpleScalar("loss", 1, 1), simpleScalar("loss", 2, 2),
                      simpleScalar("loss", 3, 3), simpleScalar("late", 3, 3)});
  writeEvents(kLaterFile, {start(2), simpleScalar("loss", 20, 2)});
  EXPECT_THAT(points("loss"), ElementsAre(Pair(1, 1), Pair(2, 20)));
  EXPECT_EQ(read().count("late"), 0u);
}

TEST_F(ReadScalars, KeepsPointsAtASessionStop) {
  writeEvents(kFile, {simpleScalar("loss", 1, 1),
                      eventAt(0, event::SessionLog{event::SessionLog::Status::kStop, "", ""})});
  EXPECT_THAT(points("loss"), SizeIs(1));
}

TEST_F(ReadScalars, ReadsAFileThatIsStillWritten) {
  const std::string bytes = framed({simpleScalar("loss", 2, 1), simpleScalar("loss", 1, 2)});
  writeBytes(kFile, bytes.substr(0, bytes.size() - 3));
  EXPECT_THAT(points("loss"), ElementsAre(Pair(1, 2)));
}

TEST_F(ReadScalars, ReportsTheFileAndTheOffsetOfDamage) {
  std::string bytes = framed({simpleScalar("loss", 2, 1), simpleScalar("loss", 1, 2)});
  bytes.back() = static_cast<char>(~bytes.back());
  const std::string file = writeBytes(kFile, bytes);
  writeEvents(kLaterFile, {simpleScalar("loss", 0, 3)});

  try {
    read();
    FAIL() << "read a damaged file";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kDataLoss);
    EXPECT_THAT(error.what(),
                HasSubstr("at offset " + std::to_string(bytes.size() / 2) + " of " + file));
  }
}

TEST_F(ReadScalars, ThrowsForDamage) {
  writeBytes(kFile, std::string(100, '\0'));
  try {
    read();
    FAIL() << "read a damaged file";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kDataLoss);
    EXPECT_THAT(error.what(), HasSubstr("length checksum mismatch"));
  }
}

TEST_F(ReadScalars, ReportsAFileThatCannotBeOpened) {
  RunReader run({".", root_, {path("gone")}});
  run.update();
  ASSERT_THAT(run.damage(), SizeIs(1));
  EXPECT_EQ(run.damage()[0].outcome, ReadOutcome::kIoError);
  EXPECT_THAT(run.damage()[0].status.message(), HasSubstr("cannot open " + path("gone")));
}

TEST_F(ReadScalars, RequiresExactlyOneRun) {
  EXPECT_THROW(read(), Error);
  writeEvents("a/events.out.tfevents.1", {});
  writeEvents("b/events.out.tfevents.1", {});
  try {
    read();
    FAIL() << "merged two runs";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(error.what(),
              "readScalars \"" + root_ +
                  "\": got 2 runs; expected one event file or the directory of one run");
  }
}

TEST(ScalarSeriesOfPeers, AreReadFromTorch) {
  ScalarsByTag scalars = readScalars(STEPTAPE_SOURCE_DIR "/tests/golden/torch.tfevents");
  EXPECT_THAT(scalars, SizeIs(4));
  ASSERT_THAT(scalars["loss/train"], SizeIs(3));
  EXPECT_EQ(scalars["loss/train"][1].wallTime, 1'700'000'001.5);
  EXPECT_EQ(scalars["loss/train"][1].step, 1);
  EXPECT_EQ(scalars["loss/train"][1].value, 0.5F);
  EXPECT_TRUE(std::isnan(scalars["diverged"].at(0).value));
  EXPECT_EQ(scalars["accuracy"].at(0).value, 0.75F);
  EXPECT_EQ(scalars["precise"].at(0).value, 0.1F);
}

TEST(ScalarSeriesOfPeers, AreReadFromTensorboardX) {
  ScalarsByTag scalars = readScalars(STEPTAPE_SOURCE_DIR "/tests/golden/tensorboardx.tfevents");
  EXPECT_THAT(scalars, SizeIs(3));
  EXPECT_THAT(scalars["loss/train"], SizeIs(3));
  EXPECT_EQ(scalars["named"].at(0).value, 7.0F);
}

}  // namespace
}  // namespace steptape
