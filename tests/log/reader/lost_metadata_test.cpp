// SPDX-License-Identifier: Apache-2.0
//
// Tags whose metadata, which writers write only with a tag's first value, was lost to damage.
#include <string>

#include "log/reader/run_contents.h"
#include "log/reader/run_fixture.h"

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

class LostMetadataTest : public RunFixture {
 protected:
  /// Returns the events with one byte of the second one changed.
  static std::string damaged(const std::vector<event::Event>& events) {
    std::string bytes = framed(events);
    const std::size_t second = framed({events[0]}).size();
    bytes[second + 20] = static_cast<char>(bytes[second + 20] ^ 1);
    return bytes;
  }
};

TEST_F(LostMetadataTest, LeavesNumbersScalars) {
  writeBytes(kFirst,
             damaged({version(), tensorScalar("loss", 1, 1), tensorScalar("loss", 2, 2, false),
                      tensorScalar("loss", 3, 3, false)}));
  const RunReader run = read();
  EXPECT_THAT(points(run, "loss"), ElementsAre(Pair(2, 2), Pair(3, 3)));
  EXPECT_EQ(run.tags().at("loss").metadata.pluginName, event::kScalarsPlugin);
  EXPECT_THAT(run.tags().at("loss").values, IsEmpty());
  EXPECT_EQ(contentsOf(run), streamedContents(listRuns(root_).at(0), PurgePolicy::kRestarts));
}

TEST_F(LostMetadataTest, LeavesNumbersScalarsAsTheFileGrows) {
  writeBytes(kFirst,
             damaged({version(), tensorScalar("loss", 1, 1), tensorScalar("loss", 2, 2, false)}));
  RunReader run = read();
  append(kFirst, framed({tensorScalar("loss", 3, 3, false)}));
  run.update();
  EXPECT_THAT(points(run, "loss"), ElementsAre(Pair(2, 2), Pair(3, 3)));
}

TEST_F(LostMetadataTest, IsOverriddenByLaterMetadata) {
  writeBytes(kFirst, damaged({version(), tensorScalar("x", 1, 1), tensorScalar("x", 2, 2, false)}));
  RunReader run = read();
  EXPECT_THAT(points(run, "x"), ElementsAre(Pair(2, 2)));
  event::Event other = tensorScalar("x", 3, 3);
  std::get<event::Summary>(other.what).values[0].metadata->pluginName = "mine";
  append(kFirst, framed({other}));
  run.update();
  EXPECT_EQ(run.tags().at("x").metadata.pluginName, "mine");
  EXPECT_THAT(points(run, "x"), IsEmpty());
  EXPECT_THAT(steps(run, "x"), ElementsAre(2, 3));
}

TEST_F(LostMetadataTest, LeavesOtherValuesWithoutAPlugin) {
  writeBytes(kFirst, damaged({version(), textAt(1, "note", "a"), textAt(2, "note", "b", false)}));
  const RunReader run = read();
  EXPECT_EQ(run.tags().at("note").metadata.pluginName, "");
  EXPECT_THAT(steps(run, "note"), ElementsAre(2));
  EXPECT_EQ(contentsOf(run), streamedContents(listRuns(root_).at(0), PurgePolicy::kRestarts));
}

TEST_F(LostMetadataTest, IsNotAssumedWithoutDamage) {
  writeEvents(kFirst, {version(), tensorScalar("number", 2, 2, false)});
  const RunReader run = read();
  EXPECT_EQ(run.tags().at("number").metadata.pluginName, "");
  EXPECT_THAT(run.tags().at("number").scalars.steps, IsEmpty());
  EXPECT_THAT(steps(run, "number"), ElementsAre(2));
}

}  // namespace
}  // namespace steptape
