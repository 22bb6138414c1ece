// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "steptape/log/summary_writer.h"
#include "steptape/ranks/testing.h"

#include "log/export/scalar_spool.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::SizeIs;

class JsonExportTest : public ::testing::Test {
 protected:
  nlohmann::json exported() {
    const Status status = writer_.exportScalarsToJson(path_);
    EXPECT_TRUE(status.ok()) << status.message();
    std::ifstream file(path_);
    return nlohmann::json::parse(file);
  }

  testing::TempDir dir_;
  std::string run_ = dir_.string() + "/run";
  std::string path_ = dir_.string() + "/all.json";
  SummaryWriter writer_{run_};
};

TEST_F(JsonExportTest, HoldsEveryPointUnderItsDirectoryAndTag) {
  for (std::int64_t step = 0; step < 3000; ++step) {
    writer_.addScalar("loss/train", static_cast<double>(step) / 3, step);
  }
  ScalarOptions options;
  options.wallTime = 12.5;
  writer_.addScalar("accuracy", 0.75, 7, options);
  const nlohmann::json json = exported();
  ASSERT_THAT(json, SizeIs(2));
  const nlohmann::json& loss = json.at(run_ + "/loss/train");
  ASSERT_THAT(loss, SizeIs(3000));
  for (std::size_t step = 0; step < loss.size(); ++step) {
    ASSERT_EQ(loss[step][1], step);
    ASSERT_EQ(loss[step][2].get<double>(), static_cast<float>(static_cast<double>(step) / 3));
  }
  EXPECT_EQ(json.at(run_ + "/accuracy").dump(), "[[12.5,7,0.75]]");
}

TEST_F(JsonExportTest, NamesACurveOfAddScalarsByItsSubRun) {
  writer_.addScalars("run_14h", {{"xsinx", 1}, {"xcosx", 2}}, 5);
  const nlohmann::json json = exported();
  EXPECT_EQ(json.at(run_ + "/run_14h/xsinx")[0][2], 1);
  EXPECT_EQ(json.at(run_ + "/run_14h/xcosx")[0][2], 2);
}

TEST_F(JsonExportTest, WritesWhatJsonDoesNotKnowAsStrings) {
  const double infinity = std::numeric_limits<double>::infinity();
  writer_.addScalar("x", std::nan(""), 0);
  writer_.addScalar("x", infinity, 1);
  writer_.addScalar("x", -infinity, 2);
  const nlohmann::json points = exported().at(run_ + "/x");
  EXPECT_EQ(points[0][2], "NaN");
  EXPECT_EQ(points[1][2], "Infinity");
  EXPECT_EQ(points[2][2], "-Infinity");
}

TEST_F(JsonExportTest, EscapesTags) {
  writer_.addScalar("quote\" back\\slash \n", 1, 0);
  EXPECT_TRUE(exported().contains(run_ + "/quote\" back\\slash \n"));
}

TEST_F(JsonExportTest, IsAnEmptyObjectWithoutScalars) {
  writer_.addText("t", "x", 0);
  EXPECT_EQ(exported().dump(), "{}");
}

TEST_F(JsonExportTest, GathersTheFilesOfAWriterThatWasClosedInBetween) {
  writer_.addScalar("x", 1, 0);
  ASSERT_TRUE(writer_.close().ok());
  writer_.addScalar("x", 2, 1);
  EXPECT_THAT(exported().at(run_ + "/x"), SizeIs(2));
}

TEST_F(JsonExportTest, LeavesOutWhatAResumedRunWritesAgain) {
  for (std::int64_t step = 0; step < 4; ++step) {
    writer_.addScalar("x", 1, step);
    writer_.addScalar("only before", 1, step);
    writer_.addScalars("group", {{"curve", 1}}, step);
  }
  writer_.resume(2);
  writer_.addScalar("x", 2, 2);
  writer_.addScalars("group", {{"curve", 2}}, 2);
  const nlohmann::json json = exported();
  const auto stepsAndValues = [&](const std::string& key) {
    std::vector<std::pair<int, int>> points;
    for (const nlohmann::json& point : json.at(run_ + key)) {
      points.emplace_back(point[1], point[2]);
    }
    return points;
  };
  EXPECT_THAT(stepsAndValues("/x"), ElementsAre(Pair(0, 1), Pair(1, 1), Pair(2, 2)));
  EXPECT_THAT(stepsAndValues("/only before"), ElementsAre(Pair(0, 1), Pair(1, 1)));
  EXPECT_THAT(stepsAndValues("/group/curve"), ElementsAre(Pair(0, 1), Pair(1, 1), Pair(2, 2)));
}

TEST_F(JsonExportTest, HoldsNothingOfTheWritersBefore) {
  writer_.addScalar("x", 1, 0);
  ASSERT_TRUE(writer_.close().ok());
  WriterOptions options;
  options.purgeStep = 1;
  SummaryWriter later(run_, options);
  later.addScalar("x", 2, 1);
  ASSERT_TRUE(later.exportScalarsToJson(path_).ok());
  std::ifstream file(path_);
  const nlohmann::json points = nlohmann::json::parse(file).at(run_ + "/x");
  ASSERT_THAT(points, SizeIs(1));
  EXPECT_EQ(points[0][1], 1);
}

TEST_F(JsonExportTest, OmitsTensorsThatAreNotScalars) {
  const std::vector<float> number = {1};
  writer_.addTensor("x", TensorView(number.data(), {}), 0);
  EXPECT_EQ(exported().dump(), "{}");
}

TEST_F(JsonExportTest, HoldsScalarsOfAddSummaryToo) {
  event::Value value;
  value.tag = "x";
  value.data = 0.5F;
  writer_.addSummary({{value}}, 3);
  EXPECT_EQ(exported().at(run_ + "/x")[0][2], 0.5);
}

TEST_F(JsonExportTest, KeepsCurvesOfTheSameKeyApart) {
  writer_.addScalar("loss/train", 1, 0);
  writer_.addScalars("loss", {{"train", 2}}, 0);
  const nlohmann::json json = exported();
  ASSERT_THAT(json, SizeIs(2));
  EXPECT_EQ(json.at(run_ + "/loss/train")[0][2], 1);
  EXPECT_EQ(json.at(run_ + "/loss/train (2)")[0][2], 2);
}

TEST_F(JsonExportTest, ReportsWhyItCannotWrite) {
  const Status status = writer_.exportScalarsToJson(dir_.string() + "/absent/all.json");
  EXPECT_EQ(status.message(),
            "cannot write " + dir_.string() + "/absent/all.json: No such file or directory");
}

TEST_F(JsonExportTest, ReportsWhichFileCannotBeRead) {
  writer_.addScalar("x", 1, 0);
  ASSERT_TRUE(writer_.close().ok());
  std::filesystem::remove_all(run_);
  EXPECT_THAT(writer_.exportScalarsToJson(path_).message(), HasSubstr(run_));
  EXPECT_FALSE(std::filesystem::exists(path_));
}

using detail::log::ScalarSpool;

class ScalarSpoolTest : public ::testing::Test {
 protected:
  testing::TempDir dir_;
  std::string path_ = dir_.string() + "/spool";
};

TEST_F(ScalarSpoolTest, GivesPointsBackBySeriesInOrderHoweverLittleMemoryItHas) {
  for (const std::size_t memory : {1U, 2U, 7U, 100U, 100'000U}) {
    ScalarSpool spool(path_, memory);
    for (int i = 0; i < 1000; ++i) {
      const std::string series = "s" + std::to_string(i % 3);
      ASSERT_TRUE(spool.add(spool.series({series, "", ""}), {i * 0.5, i, -1.0 * i}).ok());
    }
    std::vector<std::string> names;
    std::vector<std::vector<std::int64_t>> steps;
    const Status status = spool.forEach(
        [&](std::size_t number) {
          names.push_back(spool.curves().at(number).name);
          steps.emplace_back();
        },
        [&](const ScalarSpool::Point& point) {
          EXPECT_EQ(point.wallTime, static_cast<double>(point.step) * 0.5);
          steps.back().push_back(point.step);
        });
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_EQ(names, (std::vector<std::string>{"s0", "s1", "s2"}));
    for (int series = 0; series < 3; ++series) {
      const auto& own = steps[static_cast<std::size_t>(series)];
      for (std::size_t i = 0; i < own.size(); ++i) {
        ASSERT_EQ(own[i], static_cast<std::int64_t>(i * 3) + series);
      }
    }
  }
}

TEST_F(ScalarSpoolTest, UsesAFileWithoutAName) {
  ScalarSpool spool(path_, 1);
  ASSERT_TRUE(spool.add(spool.series({"s", "", ""}), {0, 0, 0}).ok());
  EXPECT_TRUE(std::filesystem::is_empty(dir_.path()));
}

TEST_F(ScalarSpoolTest, ReportsWhyItsFileCannotBeCreated) {
  ScalarSpool spool(dir_.string() + "/absent/spool", 1);
  EXPECT_EQ(spool.add(spool.series({"s", "", ""}), {0, 0, 0}).message(),
            "cannot create the temporary file " + dir_.string() +
                "/absent/spool*: No such file or directory");
}

}  // namespace
}  // namespace steptape
