// SPDX-License-Identifier: Apache-2.0
// Repair of tags whose metadata was in a damaged record.
#include <cmath>
#include <filesystem>
#include <iterator>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "steptape/events/plugin_content.h"
#include "steptape/log/file_check.h"

#include "log/reader/log_dir_fixture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;

class LostMetadata : public LogDirFixture {
 protected:
  static constexpr char kDamage[] = "damage";

  static event::Value bare(const std::string& tag) {
    return tensorValue<float>(tag, event::TensorType::kFloat, {0.5F});
  }
  static event::Value described(const std::string& tag, const std::string& displayName = {}) {
    event::Value value = ofScalarsPlugin(bare(tag));
    value.metadata->displayName = displayName;
    value.metadata->dataClass = event::DataClass::kScalar;
    return value;
  }
  static event::Value strings(const std::string& tag, std::vector<std::int64_t> shape,
                              std::vector<std::string> texts) {
    event::Tensor tensor;
    tensor.type = event::TensorType::kString;
    tensor.shape = std::move(shape);
    tensor.strings = std::move(texts);
    return {tag, std::move(tensor), {}};
  }
  template <typename Number>
  static event::Value matrix(event::TensorType type, std::int64_t rows,
                             const std::vector<Number>& numbers) {
    event::Value value = tensorValue<Number>("tag", type, numbers);
    std::get<event::Tensor>(value.data).shape = {rows,
                                                 static_cast<std::int64_t>(numbers.size()) / rows};
    return value;
  }
  static event::Event eventOf(std::int64_t step, std::vector<event::Value> values) {
    return eventAt(step, event::Summary{std::move(values)});
  }
  /// Repairs the file `name` to the file "repaired" in the same directory and returns the result.
  std::string repaired(const std::string& name, RepairReport* report) const {
    RepairOptions options;
    options.overwrite = true;
    const Status status = repairEventFile(path(name), path("repaired"), options, report);
    EXPECT_TRUE(status.ok()) << status.message();
    return contentOf("repaired");
  }
  /// Returns the metadata that a repair gives to `value`, whose tag is unknown.
  event::SummaryMetadata guessed(const event::Value& value) const {
    writeBytes("damaged", kDamage + framed({eventOf(1, {value})}));
    RepairReport report;
    event::Event event;
    const std::string bytes = repaired("damaged", &report);
    constexpr std::size_t kHeaderBytes = 12;
    constexpr std::size_t kFooterBytes = 4;
    EXPECT_TRUE(
        detail::events::decodeEvent(std::string_view(bytes).substr(
                                        kHeaderBytes, bytes.size() - kHeaderBytes - kFooterBytes),
                                    &event)
            .ok());
    const event::Value& first = std::get<event::Summary>(event.what).values.at(0);
    EXPECT_EQ(report.tagsRestored, first.metadata ? 1u : 0u);
    return first.metadata.value_or(event::SummaryMetadata());
  }
};

TEST_F(LostMetadata, IsThatOfALaterValueOfTheFile) {
  writeBytes("damaged", kDamage + framed({eventOf(1, {bare("loss")}),
                                          eventOf(2, {described("loss", "Loss")})}));
  RepairReport report;
  EXPECT_EQ(repaired("damaged", &report), framed({eventOf(1, {described("loss", "Loss")}),
                                                  eventOf(2, {described("loss", "Loss")})}));
  EXPECT_EQ(report.tagsRestored, 1u);
  EXPECT_EQ(report.recordsKept, 2u);
  ASSERT_EQ(report.steps.size(), 2u);
  const RepairStep& step = report.steps[1];
  EXPECT_EQ(step.kind, RepairStep::Kind::kMetadataSet);
  EXPECT_EQ(step.offset, sizeof kDamage - 1);
  EXPECT_EQ(step.bytes, framed({eventOf(1, {bare("loss")})}).size());
  EXPECT_EQ(step.tag, "loss");
  EXPECT_EQ(step.why,
            "metadata of 'loss' restored: plugin scalars, as another value of the tag says");
}

TEST_F(LostMetadata, IsThatOfAnotherFileOfTheRun) {
  writeEvents("events.out.tfevents.1", {eventOf(0, {described("loss", "Loss")})});
  writeBytes("events.out.tfevents.2", kDamage + framed({eventOf(1, {bare("loss")})}));
  RepairReport report;
  EXPECT_EQ(repaired("events.out.tfevents.2", &report),
            framed({eventOf(1, {described("loss", "Loss")})}));
}

TEST_F(LostMetadata, IsFoundInAFileNextToTheOutput) {
  writeEvents("run/events.out.tfevents.1", {eventOf(0, {described("loss", "Loss")})});
  writeBytes("damaged", kDamage + framed({eventOf(1, {bare("loss")})}));
  RepairReport report;
  ASSERT_TRUE(
      repairEventFile(path("damaged"), path("run/events.out.tfevents.2"), {}, &report).ok());
  EXPECT_EQ(contentOf("run/events.out.tfevents.2"),
            framed({eventOf(1, {described("loss", "Loss")})}));
}

TEST_F(LostMetadata, IsFoundInAFileNextToTheRepairedLink) {
  writeBytes("data/tfevents", kDamage + framed({eventOf(1, {bare("loss")})}));
  writeEvents("run/events.out.tfevents.1", {eventOf(0, {described("loss", "Loss")})});
  std::filesystem::create_symlink("../data/tfevents", path("run/tfevents.2"));
  RepairReport report;
  ASSERT_TRUE(repairEventFileInPlace(path("run/tfevents.2"), {}, &report).ok());
  EXPECT_EQ(contentOf("data/tfevents"), framed({eventOf(1, {described("loss", "Loss")})}));
}

TEST_F(LostMetadata, OfAnotherKindOfValueIsNotTaken) {
  event::Value images = strings("loss", {2}, {"4", "3"});
  images.metadata.emplace().pluginName = event::kImagesPlugin;
  writeEvents("events.out.tfevents.1", {eventOf(0, {images})});
  writeBytes("events.out.tfevents.2", kDamage + framed({eventOf(1, {bare("loss")})}));
  RepairReport report;
  EXPECT_EQ(repaired("events.out.tfevents.2", &report), framed({eventOf(1, {described("loss")})}));
}

TEST_F(LostMetadata, IsRestoredForEachTagOnce) {
  writeBytes("damaged", kDamage + framed({eventOf(1, {bare("a"), bare("b")}),
                                          eventOf(2, {bare("b"), bare("c")})}));
  RepairReport report;
  EXPECT_EQ(repaired("damaged", &report), framed({eventOf(1, {described("a"), described("b")}),
                                                  eventOf(2, {bare("b"), described("c")})}));
  EXPECT_EQ(report.tagsRestored, 3u);
  EXPECT_EQ(checkEventFile(path("repaired")).fastServer, ReaderEffect::kNone);
}

TEST_F(LostMetadata, IsSearchedOnlyAfterDamage) {
  const std::string whole = framed({eventOf(1, {bare("custom")})});
  writeBytes("damaged", whole + kDamage + framed({eventOf(2, {bare("custom")})}));
  RepairReport report;
  EXPECT_EQ(repaired("damaged", &report), whole + framed({eventOf(2, {bare("custom")})}))
      << "the tag was written without metadata";
  EXPECT_EQ(report.tagsRestored, 0u);
}

TEST_F(LostMetadata, IsAddedTogetherWithAWallTime) {
  event::Event event = eventOf(1, {bare("loss")});
  event.wallTime = std::nan("");
  writeBytes("damaged", kDamage + framed({event, eventOf(2, {bare("loss")})}));
  RepairReport report;
  repaired("damaged", &report);
  ASSERT_EQ(report.steps.size(), 3u);
  EXPECT_EQ(report.steps[1].kind, RepairStep::Kind::kMetadataSet);
  EXPECT_EQ(report.steps[2].kind, RepairStep::Kind::kTimeSet);
  const CheckReport check = checkEventFile(path("repaired"));
  EXPECT_EQ(check.fastServer, ReaderEffect::kNone);
}

TEST_F(LostMetadata, OfAValueThatShowsItselfIsNotAskedFor) {
  const std::string good = framed({simpleScalar("loss", 1, 1)});
  writeBytes("damaged", kDamage + good);
  RepairReport report;
  EXPECT_EQ(repaired("damaged", &report), good);
}

TEST_F(LostMetadata, IsReportedIfItIsUnknown) {
  const std::string mesh =
      framed({eventOf(1, {tensorValue<float>("m_VERTEX", event::TensorType::kFloat, {1, 2, 3})})});
  writeBytes("damaged", kDamage + mesh + mesh);
  RepairReport report;
  EXPECT_EQ(repaired("damaged", &report), mesh + mesh);
  EXPECT_THAT(report.tagsWithoutMetadata, ElementsAre("m_VERTEX"));
  EXPECT_EQ(report.tagsRestored, 0u);
}

// The forms are those of docs/event_file_format.md.

TEST_F(LostMetadata, OfAScalarIsGuessed) {
  const event::SummaryMetadata metadata = guessed(bare("tag"));
  EXPECT_EQ(metadata.pluginName, "scalars");
  EXPECT_EQ(metadata.dataClass, event::DataClass::kScalar);
}

TEST_F(LostMetadata, OfAHistogramIsGuessed) {
  const event::SummaryMetadata metadata =
      guessed(matrix<double>(event::TensorType::kDouble, 2, {-1, 0, 3, 0, 2.5, 4}));
  EXPECT_EQ(metadata.pluginName, "histograms");
  EXPECT_EQ(metadata.dataClass, event::DataClass::kTensor);
  EXPECT_EQ(
      guessed(matrix<double>(event::TensorType::kDouble, 2, {0, -1, 3, 0, 2.5, 4})).pluginName, "")
      << "edges that descend";
  event::Value empty = tensorValue<double>("tag", event::TensorType::kDouble, {});
  std::get<event::Tensor>(empty.data).shape = {0, 3};
  EXPECT_EQ(guessed(empty).pluginName, "histograms") << "of no numbers";
}

TEST_F(LostMetadata, OfImagesIsGuessed) {
  const event::SummaryMetadata metadata =
      guessed(strings("tag", {3}, {"4", "3", "\x89PNG\r\n\x1a\nand so on"}));
  EXPECT_EQ(metadata.pluginName, "images");
  EXPECT_EQ(metadata.dataClass, event::DataClass::kBlobSequence);
}

TEST_F(LostMetadata, OfAudioIsGuessed) {
  const std::string wav("RIFF\x24\0\0\0WAVEfmt ", 16);
  const event::SummaryMetadata metadata = guessed(strings("tag", {1}, {wav}));
  EXPECT_EQ(metadata.pluginName, "audio");
  EXPECT_EQ(metadata.dataClass, event::DataClass::kBlobSequence);
  EXPECT_EQ(metadata.pluginContent, event::audioPluginContent());
  EXPECT_EQ(guessed(strings("tag", {1, 2}, {wav, "label"})).dataClass, event::DataClass::kUnknown)
      << "the Python loader plays no clips with labels that have a class";
}

TEST_F(LostMetadata, OfTextsIsGuessed) {
  for (const event::Value& value :
       {strings("tag", {}, {"*text*"}), strings("tag", {1, 2}, {"a cell", "1\n2"})}) {
    const event::SummaryMetadata metadata = guessed(value);
    EXPECT_EQ(metadata.pluginName, "text");
    EXPECT_EQ(metadata.dataClass, event::DataClass::kTensor);
  }
  EXPECT_EQ(guessed(strings("tag", {},
                            {"\x0a\x03"
                             "abc"}))
                .pluginName,
            "")
      << "a serialized message";
  EXPECT_EQ(guessed(strings("tag", {0}, {})).pluginName, "") << "no string";
}

TEST_F(LostMetadata, OfAPrCurveIsGuessed) {
  const std::vector<float> rows = {2, 1, 1, 0, 0, 1, 0, 1, 0.5F, 1, 1, 0.5F};
  const event::SummaryMetadata metadata =
      guessed(matrix<float>(event::TensorType::kFloat, 6, rows));
  EXPECT_EQ(metadata.pluginName, "pr_curves");
  EXPECT_EQ(metadata.dataClass, event::DataClass::kTensor);
  EXPECT_EQ(metadata.pluginContent, event::prCurvePluginContent(2));
  EXPECT_EQ(
      guessed(matrix<float>(event::TensorType::kFloat, 6, std::vector<float>(12, 2))).pluginName,
      "")
      << "a precision above 1";
}

TEST_F(LostMetadata, OfALayoutIsGuessedByItsTag) {
  const event::SummaryMetadata metadata = guessed(strings("custom_scalars__config__", {}, {""}));
  EXPECT_EQ(metadata.pluginName, "custom_scalars");
  EXPECT_EQ(metadata.dataClass, event::DataClass::kTensor);
}

}  // namespace
}  // namespace steptape
