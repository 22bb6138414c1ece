// SPDX-License-Identifier: Apache-2.0
// A program in Fortran that uses the module steptape: what is in its runs.

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "steptape/events/event.h"
#include "steptape/log/run_reader.h"
#include "steptape/ranks/testing.h"

#include "c/random_kills.h"
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
    return test::runJob("'" STEPTAPE_FORTRAN_PROGRAM "' '" + run() + "' '" + mode +
                        "' '" STEPTAPE_ONNX_FILE "'");
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

TEST_F(FortranTest, HasTheCallsOfC) {
  const test::JobEnd end = runProgram();
  ASSERT_EQ(end.exitCode, 0) << end.output;
  const std::int64_t late = std::int64_t{1} << 40;
  const auto points = test::readPoints(run());
  EXPECT_THAT(points.at("pair/a"), ElementsAre(Pair(7, 1.5F), Pair(late, 3.5F)));
  EXPECT_THAT(points.at("pair/b"), ElementsAre(Pair(7, 2.5F), Pair(late, 4.5F)));
  EXPECT_THAT(test::readPoints(run(), "waves/sin").at("waves"),
              ElementsAre(Pair(7, 0.25F), Pair(late, 0.5F)));
  EXPECT_THAT(test::readPoints(run(), "waves/cos").at("waves"),
              ElementsAre(Pair(7, 0.75F), Pair(late, 1.0F)));
  std::map<std::string, event::SummaryAudio> sounds;
  std::map<std::string, event::SummaryImage> images;
  for (const event::Value& value : valuesIn(run())) {
    if (const auto* sound = std::get_if<event::SummaryAudio>(&value.data)) {
      sounds[value.tag] = *sound;
    } else if (const auto* image = std::get_if<event::SummaryImage>(&value.data)) {
      images[value.tag] = *image;
    }
  }
  EXPECT_EQ(sounds.at("stereo").numChannels, 2);
  EXPECT_EQ(sounds.at("stereo").lengthFrames, 100);
  EXPECT_EQ(sounds.at("stereo").sampleRate, 8000);
  EXPECT_EQ(sounds.at("mono").numChannels, 1);
  EXPECT_EQ(sounds.at("mono").lengthFrames, 50);
  // Two images of 6 x 4 side by side, of which batch(1, 6, 1, 2) is red.
  const auto whitest = [&](const std::string& tag) {
    const detail::values::Pixels pixels = decodePng(images.at(tag).encoded);
    EXPECT_EQ(std::count(pixels.data.begin(), pixels.data.end(), 255), 1) << tag;
    return std::max_element(pixels.data.begin(), pixels.data.end()) - pixels.data.begin();
  };
  EXPECT_EQ(images.at("batch").width, 12);
  EXPECT_EQ(images.at("batch").height, 4);
  EXPECT_EQ(whitest("batch"), 3 * 11);
  EXPECT_EQ(images.at("gray").height, 2);
  const std::vector<event::Event> events = eventsIn(run());
  EXPECT_EQ(std::count_if(events.begin(), events.end(),
                          [](const event::Event& event) {
                            return std::holds_alternative<event::GraphDef>(event.what);
                          }),
            1);
  EXPECT_EQ(whitest("gray"), 11);
}

TEST_F(FortranTest, TakesStepsOf64BitsInEveryCall) {
  ASSERT_EQ(runProgram().exitCode, 0);
  const std::int64_t late = std::int64_t{1} << 40;
  std::set<std::string> tags;
  for (const event::Event& event : eventsIn(run())) {
    const auto* summary = std::get_if<event::Summary>(&event.what);
    if (summary != nullptr && event.step == late) {
      for (const event::Value& value : summary->values) {
        tags.insert(value.tag);
      }
    }
  }
  EXPECT_THAT(tags, IsSupersetOf({"gray", "late", "late_image", "late_note", "mono", "pair/a"}));
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
    const auto* image = std::get_if<event::SummaryImage>(&value.data);
    if (image != nullptr && value.tag == "image") {
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

TEST_F(FortranTest, LosesAndDoublesNothingWhenItIsKilledAtAnyMoment) {
  test::killAtRandomMoments(STEPTAPE_FORTRAN_PROGRAM, logs_.string());
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
