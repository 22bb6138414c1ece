// SPDX-License-Identifier: Apache-2.0
#include "server/store/served_run.h"

#include <cstdint>
#include <limits>
#include <string>

#include "steptape/events/plugin_content.h"

#include "log/reader/value_reader.h"
#include "server/store/served_run_fixture.h"

namespace steptape::detail::server {
namespace {

using event::DataClass;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::Pair;

class ServedRunTest : public ServedRunFixture {
 protected:
  template <typename Number>
  void expectScalar(event::TensorType type, Number number, float expected) {
    event::Value value = ofScalarsPlugin(tensorValue<Number>("x", type, {number}));
    writeEvents(kFirst, {version(), eventWith(3, value)});
    EXPECT_THAT(scalarsOf(*readRun(), "x"), ElementsAre(Pair(3, expected)));
    std::get<event::Tensor>(value.data).shape = {1};
    writeEvents(kFirst, {version(), eventWith(3, value)});
    EXPECT_THAT(scalarsOf(*readRun(), "x"), ElementsAre(Pair(3, expected))) << "of shape [1]";
  }
  static event::Value histogram(const std::string& tag) {
    return {tag, event::SummaryHistogram(), std::nullopt};
  }
};

TEST_F(ServedRunTest, HasNoStartTimeWithoutEvents) {
  writeBytes(kFirst, "");
  EXPECT_EQ(readRun()->startTime(), std::nullopt);
  EXPECT_THAT(namesOf(*readRun()), IsEmpty());
}

TEST_F(ServedRunTest, StartsWithTheRecordOfTheFileVersion) {
  event::Event first = version();
  first.wallTime = 7;
  writeEvents(kFirst, {first, simpleScalar("loss", 1, 1)});
  EXPECT_THAT(readRun()->startTime(), Optional(7));
  writeEvents(kFirst, {first});
  EXPECT_THAT(readRun()->startTime(), Optional(7));
}

TEST_F(ServedRunTest, StartsAtTheSmallestTimeOfAllEvents) {
  event::Event early = simpleScalar("loss", 1, 2);
  early.wallTime = 5;
  event::Event without = simpleScalar("loss", 1, 3);
  without.wallTime = std::numeric_limits<double>::quiet_NaN();
  writeEvents(kFirst, {version(), simpleScalar("loss", 1, 1), early, without});
  EXPECT_THAT(readRun()->startTime(), Optional(5));
}

TEST_F(ServedRunTest, StartsAtTheTimeOfAnImage) {
  event::Event early = eventWith(1, {"x", event::SummaryImage{1, 1, 3, "PNG"}, std::nullopt});
  early.wallTime = 5;
  writeEvents(kFirst, {version(), early});
  EXPECT_THAT(readRun()->startTime(), Optional(5));
}

TEST_F(ServedRunTest, TellsItsTagsInTheOrderOfTheirNames) {
  writeEvents(kFirst, {version(), simpleScalar("b", 1, 1), simpleScalar("a/c", 1, 1),
                       simpleScalar("a", 1, 1), textAt(1, "aa", "words")});
  EXPECT_THAT(namesOf(*readRun()), ElementsAre("a", "a/c", "aa", "b"));
}

TEST_F(ServedRunTest, TakesASimpleValueAsAScalar) {
  writeEvents(kFirst, {version(), simpleScalar("loss", 0.5F, 1)});
  EXPECT_THAT(kindOf(*readRun(), "loss"), Pair("scalars", DataClass::kScalar));
  EXPECT_THAT(scalarsOf(*readRun(), "loss"), ElementsAre(Pair(1, 0.5F)));
}

TEST_F(ServedRunTest, TakesNumbersOfTensorsAsScalars) {
  writeEvents(kFirst, {version(), tensorScalar("loss", 0.5F, 1),
                       tensorScalar("loss", 0.25F, 2, /*withMetadata=*/false)});
  EXPECT_THAT(kindOf(*readRun(), "loss"), Pair("scalars", DataClass::kScalar));
  EXPECT_THAT(scalarsOf(*readRun(), "loss"), ElementsAre(Pair(1, 0.5F), Pair(2, 0.25F)));
}

TEST_F(ServedRunTest, TakesNumbersOfEveryTypeAsScalars) {
  expectScalar<float>(event::TensorType::kFloat, -1.5F, -1.5F);
  expectScalar<double>(event::TensorType::kDouble, 0.1, 0.1F);
  expectScalar<std::int32_t>(event::TensorType::kInt32, -7, -7);
  expectScalar<std::int64_t>(event::TensorType::kInt64, 1LL << 40, 1099511627776.0F);
  expectScalar<std::uint8_t>(event::TensorType::kUInt8, 200, 200);
  expectScalar<std::uint16_t>(event::TensorType::kBFloat16, 0x3FC0, 1.5F);
  expectScalar<std::uint16_t>(event::TensorType::kHalf, 0x3E00, 1.5F);
}

TEST_F(ServedRunTest, KnowsTheKindOfEachPlugin) {
  const event::Value value = tensorValue<float>("", event::TensorType::kFloat, {1, 2});
  std::vector<event::Event> events{version()};
  for (const char* plugin : {"histograms", "text", "hparams", "pr_curves", "mesh", "custom_scalars",
                             "images", "audio", "graph_keras_model", "mine"}) {
    events.push_back(eventWith(1, withPlugin(value, plugin)));
    std::get<event::Summary>(events.back().what).values[0].tag = plugin;
  }
  writeEvents(kFirst, events);
  const auto run = readRun();
  for (const char* plugin :
       {"histograms", "text", "hparams", "pr_curves", "mesh", "custom_scalars"}) {
    EXPECT_THAT(kindOf(*run, plugin), Pair(plugin, DataClass::kTensor));
  }
  for (const char* plugin : {"images", "audio", "graph_keras_model"}) {
    EXPECT_THAT(kindOf(*run, plugin), Pair(plugin, DataClass::kBlobSequence));
  }
  EXPECT_THAT(kindOf(*run, "mine"), Pair("mine", DataClass::kUnknown));
}

TEST_F(ServedRunTest, KnowsTheKindOfEachCompatibleForm) {
  writeEvents(kFirst, {version(), eventWith(1, histogram("histogram")),
                       eventWith(1, {"image", event::SummaryImage{1, 1, 3, "PNG"}, std::nullopt}),
                       eventWith(1, {"audio", event::SummaryAudio(), std::nullopt})});
  EXPECT_THAT(kindOf(*readRun(), "histogram"), Pair("histograms", DataClass::kTensor));
  EXPECT_THAT(kindOf(*readRun(), "image"), Pair("images", DataClass::kBlobSequence));
  EXPECT_THAT(kindOf(*readRun(), "audio"), Pair("audio", DataClass::kBlobSequence));
}

TEST_F(ServedRunTest, KnowsTheKindOfGraphs) {
  writeEvents(kFirst, {version(), eventAt(0, event::GraphDef{"graph"}),
                       eventAt(3, event::TaggedRunMetadata{"step 3", "metadata"})});
  EXPECT_THAT(kindOf(*readRun(), "__run_graph__"), Pair("graphs", DataClass::kBlobSequence));
  EXPECT_THAT(kindOf(*readRun(), "step 3"),
              Pair("graph_tagged_run_metadata", DataClass::kBlobSequence));
}

TEST_F(ServedRunTest, PrefersADeclaredDataClassToThePlugin) {
  const event::Value number = tensorValue<float>("x", event::TensorType::kFloat, {1});
  writeEvents(kFirst, {version(), eventWith(1, withPlugin(number, "mine", DataClass::kScalar))});
  EXPECT_THAT(kindOf(*readRun(), "x"), Pair("mine", DataClass::kScalar));
  writeEvents(kFirst, {version(), eventWith(1, withPlugin(number, "images", DataClass::kTensor))});
  EXPECT_THAT(kindOf(*readRun(), "x"), Pair("images", DataClass::kTensor));
}

TEST_F(ServedRunTest, ShowsNoNumbersWithoutMetadata) {
  writeEvents(kFirst, {version(), tensorScalar("x", 1, 1, /*withMetadata=*/false)});
  EXPECT_EQ(kindOf(*readRun(), "x").second, DataClass::kUnknown);
}

TEST_F(ServedRunTest, ShowsNumbersWhoseMetadataIsLostToDamage) {
  std::string bytes = framed({version(), tensorScalar("x", 1, 1)});
  bytes.back() = static_cast<char>(~bytes.back());
  writeBytes(kFirst, bytes + framed({tensorScalar("x", 2, 2, /*withMetadata=*/false)}));
  EXPECT_THAT(kindOf(*readRun(), "x"), Pair("scalars", DataClass::kScalar));
  EXPECT_THAT(scalarsOf(*readRun(), "x"), ElementsAre(Pair(2, 2)));
}

TEST_F(ServedRunTest, ReplacesAGuessedKindByLaterMetadata) {
  std::string bytes = framed({version(), tensorScalar("x", 1, 1)});
  bytes.back() = static_cast<char>(~bytes.back());
  writeBytes(kFirst, bytes + framed({tensorScalar("x", 2, 2, /*withMetadata=*/false)}));
  log::RunFollower follower = this->follower();
  follower.update();
  append(kFirst,
         framed({eventWith(
             3, withPlugin(tensorValue<float>("x", event::TensorType::kFloat, {3}), "text"))}));
  follower.update();
  EXPECT_THAT(kindOf(*runOf(follower), "x"), Pair("text", DataClass::kTensor));
  EXPECT_THAT(stepsOf(*runOf(follower), "x"), ElementsAre(2, 3));
}

TEST_F(ServedRunTest, ShowsTheFirstOfTwoKindsUnderATag) {
  writeEvents(kFirst, {version(), simpleScalar("x", 1, 1), eventWith(2, histogram("x")),
                       simpleScalar("x", 3, 3)});
  EXPECT_THAT(kindOf(*readRun(), "x"), Pair("scalars", DataClass::kScalar));
  EXPECT_THAT(scalarsOf(*readRun(), "x"), ElementsAre(Pair(1, 1), Pair(3, 3)));
}

TEST_F(ServedRunTest, ReadsFilesInTheOrderOfTheirNames) {
  writeEvents(kSecond, {version(), simpleScalar("x", 20, 2)});
  writeEvents(kFirst, {version(), simpleScalar("x", 1, 1), simpleScalar("x", 2, 2)});
  EXPECT_THAT(scalarsOf(*readRun(), "x"), ElementsAre(Pair(1, 1), Pair(2, 20)));
}

TEST_F(ServedRunTest, DiscardsNothingAtARestart) {
  writeEvents(kFirst, {version(), simpleScalar("x", 1, 1), simpleScalar("x", 5, 5), start(2),
                       simpleScalar("y", 2, 2)});
  EXPECT_THAT(scalarsOf(*readRun(), "x"), ElementsAre(Pair(1, 1), Pair(5, 5)));
}

TEST_F(ServedRunTest, KeepsTheOtherPointsOfAnEventWithoutATime) {
  event::Event without = simpleScalar("x", 2, 2);
  without.wallTime = std::numeric_limits<double>::quiet_NaN();
  event::Event text = textAt(2, "note", "b");
  text.wallTime = without.wallTime;
  writeEvents(kFirst, {version(), simpleScalar("x", 1, 1), without, simpleScalar("x", 3, 3),
                       textAt(1, "note", "a"), text, textAt(3, "note", "c")});
  EXPECT_THAT(scalarsOf(*readRun(), "x"), ElementsAre(Pair(1, 1), Pair(3, 3)));
  EXPECT_THAT(stepsOf(*readRun(), "note"), ElementsAre(1, 3));
}

TEST_F(ServedRunTest, DiscardsValuesAtOrAfterALaterValuesStep) {
  writeEvents(kFirst, {version(), textAt(1, "note", "a"), textAt(5, "note", "b"),
                       textAt(2, "note", "c"), textAt(2, "note", "d")});
  EXPECT_THAT(stepsOf(*readRun(), "note"), ElementsAre(1, 2));
}

TEST_F(ServedRunTest, FindsThePointOfAStep) {
  writeEvents(kFirst, {version(), textAt(1, "note", "a"), textAt(5, "note", "b")});
  readRun()->withTag("note", [](const TagView& tag) {
    EXPECT_THAT(tag.find(1), Optional(0U));
    EXPECT_THAT(tag.find(5), Optional(1U));
    EXPECT_EQ(tag.find(0), std::nullopt);
    EXPECT_EQ(tag.find(3), std::nullopt);
    EXPECT_EQ(tag.find(6), std::nullopt);
  });
}

TEST_F(ServedRunTest, KnowsNoOtherTag) {
  writeEvents(kFirst, {version(), simpleScalar("x", 1, 1)});
  EXPECT_THAT(kindOf(*readRun(), "y"), Pair("none", DataClass::kUnknown));
}

TEST_F(ServedRunTest, ReadsAValueFromItsFile) {
  writeEvents(kFirst, {version(), textAt(1, "note", "a")});
  writeEvents(kSecond, {version(), textAt(2, "note", "b")});
  const auto run = readRun();
  run->withTag("note", [&](const TagView& tag) {
    event::Value value;
    const ValueLocation location = tag.value(1);
    ASSERT_TRUE(log::readValue(*run->open(location.file), location, &value).ok());
    EXPECT_THAT(std::get<event::Tensor>(value.data).strings, ElementsAre("b"));
  });
  EXPECT_EQ(run->open(2), nullptr);
  EXPECT_EQ(run->open(RunTail::kFirst), nullptr);
}

class ServedTailTest : public ServedRunFixture {
 protected:
  void SetUp() override {
    ServedRunFixture::SetUp();
    writeEvents(kFirst, {version(), simpleScalar("x", 1, 1), simpleScalar("x", 2, 2),
                         simpleScalar("x", 3, 3), textAt(1, "note", "a"), textAt(3, "note", "b")});
    run_ = readRun();
  }

  std::shared_ptr<ServedRun> run_;
};

TEST_F(ServedTailTest, FollowsThePointsOfTheFiles) {
  run_->setTail(tailOf({simpleScalar("x", 4, 4), textAt(4, "note", "c")}));
  EXPECT_THAT(scalarsOf(*run_, "x"), ElementsAre(Pair(1, 1), Pair(2, 2), Pair(3, 3), Pair(4, 4)));
  EXPECT_THAT(stepsOf(*run_, "note"), ElementsAre(1, 3, 4));
}

TEST_F(ServedTailTest, ReplacesThePointsThatItOverlaps) {
  run_->setTail(
      tailOf({simpleScalar("x", 20, 2), simpleScalar("x", 40, 4), textAt(3, "note", "")}));
  EXPECT_THAT(scalarsOf(*run_, "x"), ElementsAre(Pair(1, 1), Pair(2, 20), Pair(4, 40)));
  EXPECT_THAT(stepsOf(*run_, "note"), ElementsAre(1, 3));
}

TEST_F(ServedTailTest, ReplacesAllPointsIfItIsBeforeThem) {
  run_->setTail(tailOf({simpleScalar("x", 7, 0)}));
  EXPECT_THAT(scalarsOf(*run_, "x"), ElementsAre(Pair(0, 7)));
  run_->withTag("x", [](const TagView& tag) {
    EXPECT_THAT(tag.find(0), Optional(0U));
    EXPECT_EQ(tag.find(2), std::nullopt);
    EXPECT_EQ(tag.lastWallTime(), 1000);
  });
}

TEST_F(ServedTailTest, AddsTagsInTheOrderOfNames) {
  run_->setTail(tailOf({simpleScalar("a", 1, 1), simpleScalar("p", 1, 1), simpleScalar("x", 4, 4),
                        simpleScalar("z", 1, 1)}));
  EXPECT_THAT(namesOf(*run_), ElementsAre("a", "note", "p", "x", "z"));
  EXPECT_THAT(scalarsOf(*run_, "p"), ElementsAre(Pair(1, 1)));
  EXPECT_THAT(kindOf(*run_, "a"), Pair("scalars", DataClass::kScalar));
}

TEST_F(ServedTailTest, IsLeftOutWhereATagHasAnotherKind) {
  run_->setTail(tailOf({textAt(4, "x", "words"), simpleScalar("note", 1, 4)}));
  EXPECT_THAT(scalarsOf(*run_, "x"), ElementsAre(Pair(1, 1), Pair(2, 2), Pair(3, 3)));
  EXPECT_THAT(stepsOf(*run_, "note"), ElementsAre(1, 3));
}

TEST_F(ServedTailTest, MayStartTheRun) {
  event::Event early = simpleScalar("x", 4, 4);
  early.wallTime = 3;
  run_->setTail(tailOf({early}));
  EXPECT_THAT(run_->startTime(), Optional(3));
  run_->setTail(nullptr);
  EXPECT_THAT(run_->startTime(), Optional(1000));
}

TEST_F(ServedTailTest, CountsForTheLastTime) {
  run_->withTag("x", [](const TagView& tag) { EXPECT_EQ(tag.lastWallTime(), 1003); });
  run_->setTail(tailOf({simpleScalar("x", 9, 9)}));
  run_->withTag("x", [](const TagView& tag) { EXPECT_EQ(tag.lastWallTime(), 1009); });
}

TEST_F(ServedTailTest, HasValuesThatAreRead) {
  run_->setTail(tailOf({textAt(4, "note", "c"), textAt(5, "note", "d")}));
  run_->withTag("note", [&](const TagView& tag) {
    ASSERT_EQ(tag.size(), 4U);
    event::Value value;
    const ValueLocation location = tag.value(3);
    ASSERT_TRUE(log::readValue(*run_->open(location.file), location, &value).ok());
    EXPECT_THAT(std::get<event::Tensor>(value.data).strings, ElementsAre("d"));
  });
  run_->setTail(nullptr);
  EXPECT_EQ(run_->open(RunTail::kFirst), nullptr);
  EXPECT_THAT(stepsOf(*run_, "note"), ElementsAre(1, 3));
}

}  // namespace
}  // namespace steptape::detail::server
