// SPDX-License-Identifier: Apache-2.0
// A program in Fortran that uses the module steptape: what is in its runs.

#include <algorithm>
#include <map>
#include <string>
#include <variant>

#include "steptape/events/event.h"
#include "steptape/log/run_reader.h"
#include "steptape/ranks/testing.h"

#include "log/writer/recovery.h"
#include "log/writer/run_contents.h"
#include "metrics/read_back.h"
#include "support/job.h"
#include "support/own_black_boxes.h"
#include "values/kinds/png_decoder.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Key;
using ::testing::Pair;
using ::testing::SizeIs;

class FortranTest : public ::testing::Test {
 protected:
  std::string run() const { return logs_.string() + "/run"; }
  test::JobEnd runProgram(const std::string& mode = {}) const {
    return test::runJob("'" STEPTAPE_FORTRAN_PROGRAM "' '" + run() + "' " + mode);
  }

  const test::OwnBlackBoxes boxes_;
  const testing::TempDir logs_;
};

TEST_F(FortranTest, LogsEveryKindOfValue) {
  const test::JobEnd end = runProgram();
  ASSERT_EQ(end.exitCode, 0) << end.output;
  const RunReader reader = test::readRun(listRuns(run()).at(0));
  EXPECT_THAT(reader.tags(), IsSupersetOf({Key("loss"), Key("accuracy"), Key("kinds/int32"),
                                           Key("kinds/int64"), Key("whole"), Key("section"),
                                           Key("empty"), Key("box"), Key("image"), Key("note")}));
  const auto& loss = reader.tags().at("loss");
  EXPECT_THAT(loss.scalars.steps, SizeIs(100));
  EXPECT_EQ(loss.scalars.values.at(3), 0.25);
  EXPECT_EQ(loss.metadata.displayName, "Loss");
  const auto points = test::readPoints(run());
  EXPECT_THAT(points.at("accuracy"), Contains(Pair(50, 0.5F)));
  EXPECT_THAT(points.at("kinds/int32"), ElementsAre(Pair(1, 7.0F), Pair(2, 7.0F), Pair(3, 7.0F)));
  EXPECT_THAT(points.at("kinds/int64"), Contains(Pair(2, 8.0F)));
}

TEST_F(FortranTest, ReadsSectionsOfArraysWhereTheyAre) {
  ASSERT_EQ(runProgram().exitCode, 0);
  std::map<std::string, event::SummaryHistogram> histograms;
  for (const event::Value& value : valuesIn(run())) {
    if (const auto* histogram = std::get_if<event::SummaryHistogram>(&value.data)) {
      histograms[value.tag] = *histogram;
    }
  }
  // 1 to 80 in 10 rows: rows 1, 4, 7 and 10 of columns 8, 6, 4 and 2.
  const auto& section = histograms.at("section");
  EXPECT_EQ(section.min, 11);
  EXPECT_EQ(section.max, 80);
  EXPECT_EQ(section.num, 16);
  EXPECT_EQ(section.sum, 4 * (1 + 4 + 7 + 10) + 4 * (10 + 30 + 50 + 70));
  EXPECT_EQ(histograms.at("whole").sum, 80 * 81 / 2);
  EXPECT_EQ(histograms.at("empty").num, 0);
  EXPECT_EQ(histograms.at("box").num, 4 * 3 * 2);
}

TEST_F(FortranTest, DrawsAFieldWithItsFirstIndexAlongX) {
  ASSERT_EQ(runProgram().exitCode, 0);
  for (const event::Value& value : valuesIn(run())) {
    if (const auto* image = std::get_if<event::SummaryImage>(&value.data)) {
      EXPECT_EQ(image->width, 6);
      EXPECT_EQ(image->height, 4);
      const detail::values::Pixels pixels = decodePng(image->encoded);
      EXPECT_EQ(pixels.data.at(1), 255) << "image(2, 1)";
      EXPECT_EQ(std::count(pixels.data.begin(), pixels.data.end(), 0), 23);
    }
  }
}

TEST_F(FortranTest, ClosesAWriterThatGoesOutOfScope) {
  ASSERT_EQ(runProgram().exitCode, 0);
  EXPECT_THAT(test::readPoints(run() + "_scope").at("a"), ElementsAre(Pair(1, 1.5F)));
}

TEST_F(FortranTest, LosesNothingOfAWriterThatIsNotClosed) {
  ASSERT_EQ(runProgram("forgotten").exitCode, 0);
  EXPECT_THAT(test::readPoints(run()).at("loss"), SizeIs(100));
}

TEST_F(FortranTest, LosesNoScalarWhenItIsKilled) {
  EXPECT_NE(runProgram("killed").exitCode, 0);
  detail::log::recoverRuns({run()});
  EXPECT_THAT(test::readPoints(run()).at("loss"), SizeIs(100));
  EXPECT_THAT(test::readPoints(run()).at("accuracy"), SizeIs(100));
}

TEST_F(FortranTest, EndsAProgramThatDoesNotAskForTheStatus) {
  const test::JobEnd end = runProgram("wrong");
  EXPECT_NE(end.exitCode, 0);
  EXPECT_THAT(end.output, HasSubstr("steptape: "));
  EXPECT_THAT(end.output, HasSubstr("expected"));
}

TEST_F(FortranTest, GivesStatusAndMessageToAProgramThatAsks) {
  const test::JobEnd end = runProgram("asked");
  EXPECT_EQ(end.exitCode, 0) << end.output;
  EXPECT_THAT(test::readPoints(run()).at("fine"), ElementsAre(Pair(1, 1.0F)));
}

}  // namespace
}  // namespace steptape
