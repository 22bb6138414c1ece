// SPDX-License-Identifier: Apache-2.0
//
// TagSeries::firstNewScalar: the points that the last update() added.
#include "log/reader/run_fixture.h"

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

class NewPointsTest : public RunFixture {
 protected:
  /// Returns the points of `tag` from TagSeries::firstNewScalar on.
  static Points newPoints(const RunReader& run, const std::string& tag) {
    Points all = points(run, tag);
    const std::size_t first = run.tags().at(tag).firstNewScalar;
    EXPECT_LE(first, all.size());
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(first));
    return all;
  }
};

TEST_F(NewPointsTest, AreAllAtFirst) {
  writeEvents(kFirst, {simpleScalar("loss", 1, 1), simpleScalar("loss", 2, 2)});
  EXPECT_THAT(newPoints(read(), "loss"), ElementsAre(Pair(1, 1), Pair(2, 2)));
}

TEST_F(NewPointsTest, AreThoseOfTheLastUpdate) {
  writeEvents(kFirst, {simpleScalar("loss", 1, 1)});
  RunReader run = read();
  append(kFirst, framed({simpleScalar("loss", 2, 2)}));
  run.update();
  EXPECT_THAT(newPoints(run, "loss"), ElementsAre(Pair(2, 2)));
}

TEST_F(NewPointsTest, AreNoneIfNothingWasWritten) {
  writeEvents(kFirst, {simpleScalar("loss", 1, 1)});
  RunReader run = read();
  run.update();
  EXPECT_THAT(newPoints(run, "loss"), IsEmpty());
}

TEST_F(NewPointsTest, AreThoseThatARestartWroteAgain) {
  writeEvents(kFirst, {version(), simpleScalar("loss", 1, 1), simpleScalar("loss", 2, 2),
                       simpleScalar("loss", 3, 3)});
  RunReader run = read();
  append(kFirst, framed({simpleScalar("loss", 4, 4), start(3), simpleScalar("loss", 30, 3)}));
  run.update();
  EXPECT_THAT(newPoints(run, "loss"), ElementsAre(Pair(3, 30)));
}

TEST_F(NewPointsTest, BeforeARestartStayNewIfItLeavesThem) {
  writeEvents(kFirst, {version(), simpleScalar("loss", 1, 1), simpleScalar("loss", 5, 5)});
  RunReader run = read();
  append(kFirst, framed({simpleScalar("loss", 2, 2), start(3), simpleScalar("loss", 30, 3)}));
  run.update();
  EXPECT_THAT(newPoints(run, "loss"), ElementsAre(Pair(2, 2), Pair(3, 30)));
}

TEST_F(NewPointsTest, OfATagWithoutMetadataAppearWithItsMetadata) {
  writeEvents(kFirst,
              {version(), tensorScalar("loss", 1, 1, false), tensorScalar("loss", 2, 2, false)});
  RunReader run = read();
  append(kFirst, framed({start(2), tensorScalar("loss", 20, 2)}));
  run.update();
  EXPECT_THAT(points(run, "loss"), ElementsAre(Pair(1, 1), Pair(2, 20)));
  EXPECT_THAT(newPoints(run, "loss"), ElementsAre(Pair(2, 20)));
}

TEST_F(NewPointsTest, OfOtherPluginsAreKnownToo) {
  writeEvents(kFirst, {version(), textAt(1, "note", "a"), textAt(2, "note", "b")});
  RunReader run = read();
  append(kFirst, framed({start(2), textAt(2, "note", "c"), textAt(3, "note", "d")}));
  run.update();
  EXPECT_EQ(run.tags().at("note").firstNewValue, 1u);
  EXPECT_THAT(steps(run, "note"), ElementsAre(1, 2, 3));
}

TEST_F(NewPointsTest, AreKnownForEachKindOfATag) {
  const auto both = [](std::int64_t step) {
    return eventAt(step, event::Summary{{{"layer", 1.0F, std::nullopt},
                                         {"layer", event::SummaryHistogram(), std::nullopt}}});
  };
  writeEvents(kFirst, {version(), both(1), both(2)});
  RunReader run = read();
  append(kFirst, framed({start(2), both(2), both(3)}));
  run.update();
  const TagSeries& layer = run.tags().at("layer");
  EXPECT_THAT(newPoints(run, "layer"), ElementsAre(Pair(2, 1), Pair(3, 1)));
  EXPECT_EQ(layer.others.front().firstNewValue, 1u);
  EXPECT_EQ(layer.others.front().values.size(), 3u);
  EXPECT_EQ(layer.sizeBefore(), 2u);
  EXPECT_EQ(layer.size(), 6u);
}

TEST_F(NewPointsTest, AreFoundAfterPointsThatSamplingRemoves) {
  writeEvents(kFirst,
              {simpleScalar("loss", 1, 1), simpleScalar("loss", 2, 2), simpleScalar("loss", 3, 3)});
  RunReaderOptions options;
  options.sampling.otherMaxPoints = 3;
  RunReader run = read(options);
  append(kFirst, framed({simpleScalar("loss", 4, 4)}));
  run.update();
  // One of the three was removed for the new one.
  EXPECT_EQ(run.tags().at("loss").size(), 3u);
  EXPECT_THAT(newPoints(run, "loss"), ElementsAre(Pair(4, 4)));
}

}  // namespace
}  // namespace steptape
