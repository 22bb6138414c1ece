// SPDX-License-Identifier: Apache-2.0
#include "steptape/log/file_check.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "steptape/events/plugin_content.h"

#include "events/framing/record_bytes.h"
#include "events/messages/wire_bytes.h"
#include "log/reader/log_dir_fixture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr ReaderEffect kNone = ReaderEffect::kNone;
constexpr ReaderEffect kNote = ReaderEffect::kNote;
constexpr ReaderEffect kLoss = ReaderEffect::kLoss;

/// The expected effects were observed with the real readers: TensorBoard 2.21 with
/// tensorboard-data-server 0.7.2, and with --load_fast=false.
class FileCheck : public LogDirFixture {
 protected:
  static event::Event version() {
    event::Event event = eventAt(0, event::FileVersion{"brain.Event:2"});
    event.wallTime = 900;
    return event;
  }
  static event::Event scalar(std::int64_t step, const std::string& tag = "loss") {
    return eventAt(
        step,
        event::Summary{{ofScalarsPlugin(tensorValue<float>(tag, event::TensorType::kFloat, {1}))}});
  }
  static event::Event valueAt(std::int64_t step, event::Value value) {
    return eventAt(step, event::Summary{{std::move(value)}});
  }
  static event::Value ofPlugin(event::Value value, const std::string& plugin,
                               event::DataClass dataClass = event::DataClass::kUnknown) {
    value.metadata.emplace();
    value.metadata->pluginName = plugin;
    value.metadata->dataClass = dataClass;
    return value;
  }
  static event::Value strings(const std::string& tag, std::vector<std::int64_t> shape,
                              std::vector<std::string> elements) {
    event::Tensor tensor;
    tensor.type = event::TensorType::kString;
    tensor.shape = std::move(shape);
    tensor.strings = std::move(elements);
    return event::Value{tag, tensor, std::nullopt};
  }

  /// Returns a value in wire format, with parts that no writer of ours produces.
  static std::string valueOf(std::string_view tag, std::string_view node, std::string_view tensor,
                             std::string_view plugin) {
    return bytesField(1, tag) + bytesField(7, node) + bytesField(8, tensor) +
           bytesField(9, bytesField(1, bytesField(1, plugin)));
  }
  /// Returns the record of an event with a value in wire format.
  static std::string eventRecordOf(std::string_view value) {
    std::string payload;
    detail::events::appendDoubleField(&payload, 1, 1000);
    return recordOf(payload + bytesField(5, bytesField(1, value)));
  }

  CheckReport check(std::string_view bytes) const {
    return checkEventFile(writeBytes("events.out.tfevents.1", bytes));
  }
  CheckReport check(std::vector<event::Event> events) const {
    events.insert(events.begin(), version());
    return check(framed(events));
  }
  /// Returns the only finding in a file of `events`.
  Finding only(std::vector<event::Event> events) const { return onlyOf(check(std::move(events))); }
  static Finding onlyOf(const CheckReport& report) {
    EXPECT_EQ(report.findings.size(), 1u);
    return report.findings.empty() ? Finding() : report.findings.front();
  }
  CheckReport checkFiles(const std::vector<std::vector<event::Event>>& files) const {
    RunFiles run;
    for (const std::vector<event::Event>& events : files) {
      run.files.push_back(
          writeEvents("run/events.out.tfevents." + std::to_string(run.files.size()), events));
    }
    return checkRun(run);
  }
  static std::vector<std::string> rulesOf(const CheckReport& report) {
    std::vector<std::string> rules;
    for (const Finding& finding : report.findings) {
      rules.push_back(finding.rule);
    }
    return rules;
  }
};

#define EXPECT_EFFECTS(finding, fast, python) \
  EXPECT_EQ((finding).fastServer, fast);      \
  EXPECT_EQ((finding).pythonLoader, python)

TEST_F(FileCheck, FindsNothingInAGoodFile) {
  const CheckReport report = check({start(0), scalar(1), scalar(2), scalar(2, "accuracy")});
  EXPECT_THAT(report.findings, IsEmpty());
  EXPECT_EFFECTS(report, kNone, kNone);
  EXPECT_EQ(report.records, 5u);
  EXPECT_EQ(report.bytes,
            framed({version(), start(0), scalar(1), scalar(2), scalar(2, "accuracy")}).size());
}

TEST_F(FileCheck, FindsNothingInAnEmptyFile) {
  EXPECT_THAT(check("").findings, IsEmpty());
}

TEST_F(FileCheck, ReportsThatAFileCannotBeRead) {
  const Finding finding = onlyOf(checkEventFile(path("absent")));
  EXPECT_EQ(finding.rule, "unreadable");
  EXPECT_EQ(finding.message, "cannot open " + path("absent") + ": No such file or directory");
  EXPECT_EFFECTS(finding, kLoss, kLoss);
}

TEST_F(FileCheck, NamesADamagedPayload) {
  const std::string before = framed({version(), scalar(1)});
  std::string damaged = framed({scalar(2)});
  damaged[20] = static_cast<char>(~damaged[20]);
  const CheckReport report = check(before + damaged + framed({scalar(3)}));
  const Finding finding = onlyOf(report);
  EXPECT_EQ(finding.rule, "data-checksum");
  EXPECT_EQ(finding.offset, before.size());
  EXPECT_EQ(finding.bytes, damaged.size());
  EXPECT_THAT(finding.message, StartsWith("data checksum mismatch: got 0x"));
  EXPECT_THAT(finding.message,
              EndsWith(", " + std::to_string(damaged.size()) +
                       " bytes that are no record: the Python loader shows nothing of the file "
                       "from here on; the fast data server shows what the damaged bytes say, or "
                       "nothing from here on"));
  EXPECT_EFFECTS(finding, kLoss, kLoss);
  EXPECT_EQ(report.records, 3u);
}

TEST_F(FileCheck, NamesADamagedLength) {
  const std::string before = framed({version(), scalar(1)});
  std::string damaged = framed({scalar(2)});
  damaged[0] = static_cast<char>(~damaged[0]);
  const Finding finding = onlyOf(check(before + damaged + framed({scalar(3)})));
  EXPECT_EQ(finding.rule, "length-checksum");
  EXPECT_EQ(finding.offset, before.size());
  EXPECT_EQ(finding.bytes, damaged.size());
  EXPECT_THAT(finding.message, EndsWith("both readers show nothing of the file from here on"));
  EXPECT_EFFECTS(finding, kLoss, kLoss);
}

TEST_F(FileCheck, NamesDamageUpToTheEndOfTheFile) {
  const std::string before = framed({version(), scalar(1)});
  const Finding finding = onlyOf(check(before + std::string(100, 'x')));
  EXPECT_EQ(finding.rule, "length-checksum");
  EXPECT_EQ(finding.offset, before.size());
  EXPECT_EQ(finding.bytes, 100u);
}

TEST_F(FileCheck, NamesALengthThatNoRecordHas) {
  const std::string before = framed({version(), scalar(1)});
  const Finding finding =
      onlyOf(check(before + headerOf(std::uint64_t{1} << 62) + framed({scalar(2)})));
  EXPECT_EQ(finding.rule, "record-too-long");
  EXPECT_EQ(finding.offset, before.size());
  EXPECT_EQ(finding.bytes, detail::events::kHeaderBytes);
  EXPECT_THAT(finding.message,
              HasSubstr("got 4611686018427387904 bytes; expected at most 2147483647"));
  EXPECT_EFFECTS(finding, kLoss, kLoss);
}

TEST_F(FileCheck, RatesAnIncompleteLastRecordAsANote) {
  const std::string bytes = framed({version(), scalar(1), scalar(2)});
  const Finding finding = onlyOf(check(std::string_view(bytes).substr(0, bytes.size() - 1)));
  EXPECT_EQ(finding.rule, "cut-short");
  EXPECT_EQ(finding.offset, framed({version(), scalar(1)}).size());
  EXPECT_THAT(finding.message, StartsWith("record cut short: got "));
  EXPECT_THAT(finding.message, EndsWith(": the file is being written, or its writer was killed"));
  EXPECT_EFFECTS(finding, kNote, kNote);
}

TEST_F(FileCheck, NamesAnIncompleteRecordBeforeOthers) {
  const std::string before = framed({version(), scalar(1)});
  const std::string torn =
      framed({valueAt(2, strings("text", {}, {std::string(5000, 'x')}))}).substr(0, 100);
  const Finding finding = onlyOf(check(before + torn + framed({scalar(3)})));
  EXPECT_EQ(finding.rule, "cut-and-continued");
  EXPECT_EQ(finding.offset, before.size());
  EXPECT_EQ(finding.bytes, torn.size());
  EXPECT_THAT(finding.message, HasSubstr("both readers wait for the rest here"));
  EXPECT_EFFECTS(finding, kLoss, kLoss);
}

TEST_F(FileCheck, NamesARecordThatIsNotAnEvent) {
  const std::string noEvent = recordOf("\x10");  // a step without its number
  const std::string before = framed({version(), scalar(1)});
  const Finding finding = onlyOf(check(before + noEvent + framed({scalar(2)})));
  EXPECT_EQ(finding.rule, "not-an-event");
  EXPECT_EQ(finding.offset, before.size());
  EXPECT_EQ(finding.bytes, 17u);
  EXPECT_EQ(
      finding.message,
      "record: got 1 other bytes; expected a tensorflow.Event message: the fast data server shows "
      "nothing of the file from here on, the Python loader nothing more of any run");
  EXPECT_EFFECTS(finding, kLoss, kLoss);
}

TEST_F(FileCheck, NamesTextThatIsNotUtf8) {
  event::Value described = ofScalarsPlugin(tensorValue<float>("x", event::TensorType::kFloat, {1}));
  described.metadata->description = "\xff";
  for (const event::Event& event : {scalar(2, "\xff"), valueAt(2, described),
                                    eventAt(2, event::TaggedRunMetadata{"\xff", ""})}) {
    const Finding finding = only({scalar(1), event, scalar(3)});
    EXPECT_EQ(finding.rule, "not-utf8");
    EXPECT_EQ(finding.offset, framed({version(), scalar(1)}).size());
    EXPECT_EFFECTS(finding, kLoss, kLoss);
  }
}

TEST_F(FileCheck, NamesANanWallTime) {
  for (event::Event event :
       {scalar(2), simpleScalar("loss", 1, 2), eventAt(2, event::GraphDef())}) {
    event.wallTime = std::nan("");
    const Finding finding = only({scalar(1), event, scalar(3)});
    EXPECT_EQ(finding.rule, "nan-wall-time");
    EXPECT_EQ(finding.offset, framed({version(), scalar(1)}).size());
    EXPECT_EFFECTS(finding, kLoss, kNote);
  }
}

TEST_F(FileCheck, NamesAnInfiniteWallTime) {
  event::Event event = scalar(2);
  event.wallTime = -std::numeric_limits<double>::infinity();
  const Finding finding = only({scalar(1), event, scalar(3)});
  EXPECT_EQ(finding.rule, "infinite-wall-time");
  EXPECT_EFFECTS(finding, kLoss, kNote);
}

TEST_F(FileCheck, NotesAFileWithoutAVersion) {
  const Finding finding = onlyOf(check(framed({scalar(1)})));
  EXPECT_EQ(finding.rule, "no-file-version");
  EXPECT_EQ(finding.offset, 0u);
  EXPECT_EFFECTS(finding, kNone, kNote);
}

TEST_F(FileCheck, NamesATensorWithoutMetadata) {
  const event::Event event = valueAt(1, tensorValue<float>("raw", event::TensorType::kFloat, {1}));
  const Finding finding = only({event, valueAt(2, std::get<event::Summary>(event.what).values[0])});
  EXPECT_EQ(finding.rule, "no-metadata");
  EXPECT_EQ(finding.tag, "raw");
  EXPECT_EQ(finding.offset, framed({version()}).size());
  EXPECT_EQ(
      finding.message,
      "got no plugin with the tag's first value; expected one that TensorBoard knows: no page "
      "shows the tag");
  EXPECT_EFFECTS(finding, kLoss, kLoss);
}

TEST_F(FileCheck, NamesAPluginWithoutADataClass) {
  const event::Value value = tensorValue<float>("raw", event::TensorType::kFloat, {1});
  const Finding finding = only({valueAt(1, ofPlugin(value, "mine"))});
  EXPECT_EQ(finding.rule, "unknown-plugin");
  EXPECT_THAT(finding.message, StartsWith("got plugin 'mine' and no data class"));
  EXPECT_EFFECTS(finding, kLoss, kLoss);
  EXPECT_THAT(check({valueAt(1, ofPlugin(value, "mine", event::DataClass::kTensor))}).findings,
              IsEmpty());
}

TEST_F(FileCheck, NotesANameThatIsNotShown) {
  event::Value value{"loss", 1.0F, event::SummaryMetadata()};
  value.metadata->displayName = "Loss";
  const Finding finding = only({valueAt(1, value)});
  EXPECT_EQ(finding.rule, "unseen-name");
  EXPECT_EFFECTS(finding, kNote, kNone);
  value.metadata->pluginName = event::kScalarsPlugin;
  value.metadata->dataClass = event::DataClass::kScalar;
  EXPECT_THAT(check({valueAt(1, value)}).findings, IsEmpty());
}

TEST_F(FileCheck, NamesDoubleScalarsOnceForATag) {
  const event::Value value =
      ofScalarsPlugin(tensorValue<double>("loss", event::TensorType::kDouble, {1}));
  const Finding finding = only({valueAt(1, value), valueAt(2, value), valueAt(3, value)});
  EXPECT_EQ(finding.rule, "double-scalar");
  EXPECT_EQ(finding.tag, "loss");
  EXPECT_EQ(finding.count, 3u);
  EXPECT_EQ(finding.message,
            "got a tensor of DT_DOUBLE and shape (); expected DT_FLOAT and shape (): the fast data "
            "server leaves it out");
  EXPECT_EFFECTS(finding, kLoss, kNone);
}

TEST_F(FileCheck, NamesValuesOfAnotherKindThanTheirTag) {
  const event::Value number = tensorValue<float>("tag", event::TensorType::kFloat, {1});
  const event::Value text = strings("tag", {}, {"x"});
  for (const auto& [first, second] : std::vector<std::pair<event::Value, event::Value>>{
           {ofScalarsPlugin(number), text},
           {ofPlugin(text, event::kTextPlugin), event::Value{"tag", 1.0F, {}}},
           {ofPlugin(strings("tag", {1}, {"x"}), event::kAudioPlugin), number}}) {
    const Finding finding = only({valueAt(1, first), valueAt(2, second)});
    EXPECT_EQ(finding.rule, "value-form");
    EXPECT_EFFECTS(finding, kLoss, kLoss);
  }
}

TEST_F(FileCheck, TellsThatAScalarTagWithAHistogramFailsInThePythonLoader) {
  const event::SummaryHistogram histogram{0, 2, 7, 3, 9, {1, 2}, {3, 4}};
  const Finding finding =
      only({simpleScalar("grad", 1, 1), valueAt(2, event::Value{"grad", histogram, {}})});
  EXPECT_EQ(finding.message,
            "got a histo of 2 limits and 2 counts; expected a value of plugin scalars, as the "
            "tag's first one: the fast data server leaves it out, the Python loader shows nothing "
            "of the tag in any run (HTTP 500)");
  EXPECT_EFFECTS(finding, kLoss, kLoss);
}

TEST_F(FileCheck, RatesScalarTensorsForEachReader) {
  const auto effectsOf = [this](event::Value value) {
    const Finding finding = only({valueAt(1, ofScalarsPlugin(std::move(value)))});
    EXPECT_EQ(finding.rule, "value-form");
    EXPECT_EQ(finding.fastServer, kLoss);
    return finding.pythonLoader;
  };
  using Type = event::TensorType;
  EXPECT_EQ(effectsOf(tensorValue<std::int64_t>("t", Type::kInt64, {3})), kNone);
  EXPECT_EQ(effectsOf(tensorValue<std::uint16_t>("t", Type::kHalf, {0x3e00})), kNone);
  EXPECT_EQ(effectsOf(tensorValue<char>("t", Type::kBool, {1})), kNote);
  EXPECT_EQ(effectsOf(tensorValue<std::uint16_t>("t", Type::kBFloat16, {0x3fc0})), kLoss);
  EXPECT_EQ(effectsOf(tensorValue<float>("t", Type::kFloat, {1, 2})), kLoss);
  event::Value row = tensorValue<float>("t", Type::kFloat, {1});
  std::get<event::Tensor>(row.data).shape = {1, 1};
  EXPECT_EQ(effectsOf(row), kNone);
}

TEST_F(FileCheck, NamesAScalarTensorWithoutAValue) {
  const Finding finding =
      onlyOf(check(framed({version()}) + eventRecordOf(valueOf("t", "", "\x08\x01", "scalars"))));
  EXPECT_EQ(finding.message,
            "got a tensor of DT_FLOAT, shape () and 0 elements; expected DT_FLOAT and shape (): "
            "the fast data server leaves it out, the Python loader shows nothing of the tag in any "
            "run (HTTP 500)");
  EXPECT_EFFECTS(finding, kLoss, kLoss);
}

TEST_F(FileCheck, NamesATagThatIsInTheNameOfANode) {
  // As mxboard and tensorboard-chainer write a text.
  const Finding finding = onlyOf(
      check(framed({version()}) + eventRecordOf(valueOf("", "node", "\x08\x07\x42\x01x", "text"))));
  EXPECT_EQ(finding.rule, "empty-tag");
  EXPECT_EQ(finding.message,
            "got no tag and node name 'node'; expected a tag: the Python loader shows no tag of "
            "plugin 'text' in any run (HTTP 500)");
  EXPECT_EFFECTS(finding, kNote, kLoss);
}

TEST_F(FileCheck, NamesAPluginThatHasMetadataOnly) {
  const Finding finding =
      only({valueAt(1, ofPlugin(event::Value{"t", std::monostate(), {}}, event::kImagesPlugin)),
            scalar(2)});
  EXPECT_EQ(finding.rule, "no-data");
  EXPECT_EQ(finding.tag, "t");
  EXPECT_EQ(finding.offset, framed({version()}).size());
  EXPECT_EFFECTS(finding, kNone, kLoss);
}

TEST_F(FileCheck, NamesARestartThatDiscardsAllImagesOfATag) {
  const auto image = [](std::int64_t step) {
    return valueAt(step, event::Value{"i", event::SummaryImage{1, 1, 3, "x"}, {}});
  };
  const Finding finding = only({start(0), image(5), start(3)});
  EXPECT_EQ(finding.rule, "no-data");
  EXPECT_EQ(finding.tag, "i");
  EXPECT_EFFECTS(finding, kNone, kLoss);
  EXPECT_THAT(check({start(0), image(5), start(3), image(4)}).findings, IsEmpty());
  EXPECT_THAT(check({start(0), image(2), image(5), start(3)}).findings, IsEmpty());
}

TEST_F(FileCheck, NamesAPluginOfAnotherDataClass) {
  const event::Value number = tensorValue<float>("t", event::TensorType::kFloat, {1});
  const Finding finding =
      only({valueAt(1, ofPlugin(number, event::kScalarsPlugin, event::DataClass::kTensor))});
  EXPECT_EQ(finding.rule, "class-mismatch");
  EXPECT_EQ(finding.message,
            "got plugin 'scalars' and data class 2; expected one that TensorBoard knows: no page "
            "shows the tag");
  EXPECT_EFFECTS(finding, kLoss, kLoss);
}

TEST_F(FileCheck, NamesCountsThatThePythonLoaderDrops) {
  const event::SummaryHistogram histogram{0, 2, 3, 3, 9, {1, 2}, {NAN, 3}};
  const Finding finding = only({valueAt(1, event::Value{"h", histogram, {}})});
  EXPECT_EQ(finding.rule, "histogram-counts");
  EXPECT_EFFECTS(finding, kNone, kLoss);
}

TEST_F(FileCheck, TellsThatAHistogramOfTooFewLimitsEndsThePythonLoader) {
  const event::SummaryHistogram histogram{0, 2, 3, 3, 9, {1}, {1, 2, 3}};
  const Finding finding = only({valueAt(1, event::Value{"h", histogram, {}})});
  EXPECT_THAT(
      finding.message,
      EndsWith("the fast data server leaves it out, the Python loader shows nothing more of "
               "any run"));
  EXPECT_EFFECTS(finding, kLoss, kLoss);
}

TEST_F(FileCheck, NamesTextThatIsNotUtf8OnThePage) {
  const Finding finding = only({valueAt(1, ofPlugin(strings("t", {1}, {"\xff"}), "text"))});
  EXPECT_EQ(finding.rule, "value-form");
  EXPECT_THAT(finding.message, EndsWith("both readers show nothing of the tag (HTTP 500)"));
  EXPECT_EFFECTS(finding, kLoss, kLoss);
}

TEST_F(FileCheck, NamesAudioWithAVaryingNumberOfClips) {
  const Finding finding = only({valueAt(1, ofPlugin(strings("a", {2}, {"x", "y"}), "audio")),
                                valueAt(2, ofPlugin(strings("a", {1}, {"x"}), "audio"))});
  EXPECT_EQ(finding.rule, "audio-clips");
  EXPECT_THAT(finding.message, StartsWith("got 1 clip after 2; expected as many in each value"));
  EXPECT_EFFECTS(finding, kLoss, kLoss);
}

TEST_F(FileCheck, TellsWhichImageOfAStepEachReaderShows) {
  const auto image = [](const char* content) {
    return event::Value{"i", event::SummaryImage{1, 1, 3, content}, {}};
  };
  const Finding finding = only({valueAt(1, image("a")), valueAt(1, image("b"))});
  EXPECT_EQ(finding.rule, "duplicate-step");
  EXPECT_THAT(finding.message, EndsWith("the Python loader shows only the first at a step"));
  EXPECT_EFFECTS(finding, kLoss, kLoss);
}

TEST_F(FileCheck, NamesTagsOfWhichTheFastDataServerServesNoImages) {
  for (const char* tag : {"a\"b", "a\\b", "a\tb"}) {
    const Finding finding =
        only({valueAt(1, event::Value{tag, event::SummaryImage{1, 1, 3, "x"}, {}}),
              simpleScalar(std::string(tag) + "c", 1, 1)});
    EXPECT_EQ(finding.rule, "blob-name");
    EXPECT_EQ(finding.tag, tag);
    EXPECT_EFFECTS(finding, kLoss, kNone);
  }
}

TEST_F(FileCheck, NamesRunsOfWhichTheFastDataServerServesNoImages) {
  RunFiles run;
  run.name = "a\"b";
  run.files = {
      writeEvents("events.out.tfevents.1",
                  {version(), valueAt(1, event::Value{"i", event::SummaryImage{1, 1, 3, "x"}, {}}),
                   eventAt(0, event::GraphDef{"x"})})};
  EXPECT_THAT(rulesOf(checkRun(run)), ElementsAre("blob-name", "blob-name"));
}

TEST_F(FileCheck, NamesAFileOfExamplesOnce) {
  const std::string record = recordOf("\x0a\x05\x0a\x03\x0a\x01x");
  const Finding finding = onlyOf(check(record + record + record));
  EXPECT_EQ(finding.rule, "other-format");
  EXPECT_THAT(finding.message, StartsWith("record: got a tf.train.Example or another message"));
  EXPECT_EFFECTS(finding, kLoss, kLoss);
}

TEST_F(FileCheck, NamesAFileOfMindSpore) {
  event::Event first = version();
  first.what = event::FileVersion{"MindSpore.Event:1"};
  const std::string bytes = framed({first, simpleScalar("loss", 1, 1), simpleScalar("loss", 2, 1)});
  const Finding unread =
      onlyOf(checkEventFile(writeBytes("events.out.events.summary.1.0.host_MS", bytes)));
  EXPECT_EQ(unread.rule, "mindspore-format");
  EXPECT_THAT(unread.message, EndsWith("TensorBoard reads no file without 'tfevents' in its name"));
  EXPECT_EFFECTS(unread, kLoss, kLoss);
  EXPECT_THAT(onlyOf(check(bytes)).message, EndsWith("the Python loader only its images"));
}

TEST_F(FileCheck, ListsFindingsByFileAndOffset) {
  const event::Value bare = tensorValue<float>("bare", event::TensorType::kFloat, {1});
  const CheckReport report = check({valueAt(1, bare), scalar(2), scalar(1)});
  EXPECT_THAT(rulesOf(report), ElementsAre("no-metadata", "step-goes-back"));
}

TEST_F(FileCheck, NamesImagesOfAnotherRank) {
  const Finding matrix =
      only({valueAt(1, ofPlugin(strings("i", {1, 3}, {"2", "2", "png"}), event::kImagesPlugin))});
  EXPECT_EQ(matrix.rule, "image-rank");
  EXPECT_EQ(
      matrix.message,
      "got a tensor of DT_STRING and shape (1, 3); expected a tensor of DT_STRING and rank 1: the "
      "fast data server leaves it out, the Python loader shows a broken picture");
  EXPECT_EFFECTS(matrix, kLoss, kLoss);
  const Finding single =
      only({valueAt(1, ofPlugin(strings("i", {}, {"png"}), event::kImagesPlugin))});
  EXPECT_EQ(single.rule, "image-rank");
  EXPECT_EFFECTS(single, kLoss, kLoss);
  EXPECT_THAT(
      check({valueAt(1, ofPlugin(strings("i", {3}, {"2", "2", "png"}), event::kImagesPlugin))})
          .findings,
      IsEmpty());
}

TEST_F(FileCheck, NamesAudioWithLabelsIfItsDataClassIsSet) {
  const event::Value value = strings("a", {1, 2}, {"wav", "label"});
  const Finding finding =
      only({valueAt(1, ofPlugin(value, event::kAudioPlugin, event::DataClass::kBlobSequence))});
  EXPECT_EQ(finding.rule, "audio-labels");
  EXPECT_EFFECTS(finding, kNone, kLoss);
  EXPECT_THAT(check({valueAt(1, ofPlugin(value, event::kAudioPlugin))}).findings, IsEmpty());
}

TEST_F(FileCheck, NotesHistogramEdgesThatDoNotAscend) {
  event::Value value = tensorValue<double>("h", event::TensorType::kDouble, {0, 1, 2, 1, 0.5, 3});
  std::get<event::Tensor>(value.data).shape = {2, 3};
  const Finding finding = only({valueAt(1, ofPlugin(value, event::kHistogramsPlugin))});
  EXPECT_EQ(finding.rule, "histogram-edges");
  EXPECT_THAT(finding.message, StartsWith("got edge 0.500000 after 1.000000"));
  EXPECT_EFFECTS(finding, kNote, kNote);

  // As torch 2.13 writes them: an empty leading bucket whose right edge is below the minimum.
  const event::SummaryHistogram compatible{0.55, 1, 3, 2, 2, {0.5, 0.6, 1.1}, {0, 1, 2}};
  const Finding ofCompatible = only({valueAt(1, event::Value{"h", compatible, {}})});
  EXPECT_EQ(ofCompatible.rule, "histogram-edges");
  EXPECT_EFFECTS(ofCompatible, kNote, kNone);
}

TEST_F(FileCheck, NamesInvalidHistograms) {
  event::Value value = tensorValue<double>("h", event::TensorType::kDouble, {0, 1, 2, 1, 0.5, 3});
  std::get<event::Tensor>(value.data).shape = {3, 2};
  const Finding shape = only({valueAt(1, ofPlugin(value, event::kHistogramsPlugin))});
  EXPECT_EQ(shape.rule, "value-form");
  EXPECT_EFFECTS(shape, kLoss, kLoss);
  const event::SummaryHistogram unequal{0, 1, 3, 2, 2, {0.5, 0.6, 1.1}, {1, 2}};
  const Finding counts = only({valueAt(1, event::Value{"h", unequal, {}})});
  EXPECT_EQ(counts.rule, "value-form");
  EXPECT_THAT(counts.message, StartsWith("got a histo of 3 limits and 2 counts; expected "));
}

TEST_F(FileCheck, NamesStepsThatGoBack) {
  const Finding finding = only({scalar(1), scalar(5), scalar(3), scalar(2)});
  EXPECT_EQ(finding.rule, "step-goes-back");
  EXPECT_EQ(finding.tag, "loss");
  EXPECT_EQ(finding.count, 2u);
  EXPECT_EQ(finding.offset, framed({version(), scalar(1), scalar(5)}).size());
  EXPECT_EQ(finding.message,
            "got step 3 after step 5; expected a greater one: the fast data server drops what was "
            "written before at step 3 and later");
  EXPECT_EFFECTS(finding, kLoss, kNone);
}

TEST_F(FileCheck, NamesStepsThatComeTwice) {
  const Finding finding = only({simpleScalar("loss", 1, 1), simpleScalar("loss", 2, 1)});
  EXPECT_EQ(finding.rule, "duplicate-step");
  EXPECT_THAT(finding.message,
              EndsWith("the fast data server drops what was written before at step 1"));
  EXPECT_EFFECTS(finding, kLoss, kNone);
}

TEST_F(FileCheck, AcceptsARepeatedPoint) {
  EXPECT_THAT(check({simpleScalar("loss", 1, 1), simpleScalar("loss", 1, 1)}).findings, IsEmpty());
  EXPECT_THAT(check({simpleScalar("loss", NAN, 1), simpleScalar("loss", NAN, 1)}).findings,
              IsEmpty());
  const event::Value text = ofPlugin(strings("text", {}, {"x"}), event::kTextPlugin);
  EXPECT_EQ(only({valueAt(1, text), valueAt(1, text)}).rule, "duplicate-step");
}

TEST_F(FileCheck, ReportsThatThePythonLoaderDiscardsWithoutAVersion) {
  const CheckReport report = check(framed({scalar(1), scalar(5), scalar(3)}));
  EXPECT_THAT(rulesOf(report), ElementsAre("no-file-version", "step-goes-back"));
  EXPECT_EFFECTS(report.findings[1], kLoss, kLoss);
  EXPECT_EFFECTS(report, kLoss, kLoss);
}

TEST_F(FileCheck, ReportsWhatARepeatedPointCostsWithoutAVersion) {
  const std::vector<event::Event> before = {simpleScalar("loss", 2, 1), simpleScalar("loss", 1, 1),
                                            simpleScalar("other", 1, 5)};
  const auto withRepeat = [&](float value) {
    std::vector<event::Event> events = before;
    events.push_back(simpleScalar("loss", value, 1));
    return check(framed(events));
  };
  EXPECT_EFFECTS(check(framed(before)), kLoss, kNote);
  EXPECT_THAT(rulesOf(withRepeat(1)),
              ElementsAre("no-file-version", "duplicate-step", "step-goes-back"));
  EXPECT_EFFECTS(withRepeat(1), kLoss, kLoss);
  EXPECT_THAT(rulesOf(check(framed({simpleScalar("loss", 1, 1), simpleScalar("other", 1, 5),
                                    simpleScalar("loss", 1, 1)}))),
              ElementsAre("no-file-version"));
}

TEST_F(FileCheck, AcceptsPointsThatARestartOverwrites) {
  const CheckReport report = checkFiles(
      {{version(), start(0), scalar(1), scalar(2), scalar(3)},
       {eventAt(200, event::FileVersion{"brain.Event:2"}), start(2), scalar(2), scalar(3)}});
  EXPECT_THAT(rulesOf(report), ElementsAre());
}

TEST_F(FileCheck, NamesStepsThatDecreaseAfterARestart) {
  EXPECT_EQ(only({start(0), scalar(1), scalar(5), start(4), scalar(2)}).rule, "step-goes-back");
}

TEST_F(FileCheck, NotesARestartThatTheReaderTreatsAsTheStart) {
  const CheckReport report = checkFiles(
      {{version(), scalar(1), scalar(2), scalar(3)},
       {eventAt(200, event::FileVersion{"brain.Event:2"}), start(2), scalar(2), scalar(3)}});
  const Finding finding = onlyOf(report);
  EXPECT_EQ(finding.rule, "no-first-start");
  EXPECT_EQ(finding.path, path("run/events.out.tfevents.1"));
  EXPECT_EFFECTS(finding, kNone, kNote);
}

TEST_F(FileCheck, NotesFilesWhoseNamesDoNotSortByTime) {
  event::Event later = version();
  later.wallTime = 5000;
  const CheckReport report = checkFiles({{later, scalar(11)}, {version(), scalar(1, "other")}});
  const Finding finding = onlyOf(report);
  EXPECT_EQ(finding.rule, "name-order");
  EXPECT_EQ(finding.path, path("run/events.out.tfevents.1"));
  EXPECT_EFFECTS(finding, kNote, kNote);
}

TEST_F(FileCheck, NamesARestartThatDropsWhatWasWrittenAfterIt) {
  event::Event later = version();
  later.wallTime = 5000;
  const CheckReport report =
      checkFiles({{later, start(3), scalar(3)}, {version(), start(0), scalar(1), scalar(2)}});
  EXPECT_THAT(rulesOf(report), ElementsAre("name-order", "restart-order", "step-goes-back"));
  EXPECT_EFFECTS(report.findings[1], kNone, kLoss);
  EXPECT_EFFECTS(report.findings[2], kLoss, kNone);
}

TEST_F(FileCheck, NotesFilesThatWereWrittenAtTheSameTime) {
  const CheckReport report =
      checkFiles({{version(), scalar(1), scalar(100)},
                  {eventAt(50, event::FileVersion{"brain.Event:2"}), scalar(51, "other")}});
  const Finding finding = onlyOf(report);
  EXPECT_EQ(finding.rule, "written-at-once");
  EXPECT_EFFECTS(finding, kNone, kNote);
}

TEST_F(FileCheck, NamesALayoutThatLosesCharts) {
  const auto layoutAt = [](std::int64_t step, const std::vector<std::string>& titles) {
    CustomScalarsCategory category{"c", {}};
    for (const std::string& title : titles) {
      category.charts.push_back(CustomScalarsChart::multiline(title, {"loss"}));
    }
    return valueAt(step, ofPlugin(strings("custom_scalars__config__", {},
                                          {encodeLayout(CustomScalarsLayout{{category}})}),
                                  event::kCustomScalarsPlugin));
  };
  EXPECT_THAT(check({layoutAt(0, {"a"}), layoutAt(0, {"a", "b"})}).findings, IsEmpty());
  const Finding finding = only({layoutAt(0, {"a"}), layoutAt(0, {"b"})});
  EXPECT_EQ(finding.rule, "layout-replaced");
  EXPECT_THAT(finding.message, StartsWith("got a layout without the chart 'a' of the one before"));
  EXPECT_EFFECTS(finding, kLoss, kLoss);
}

TEST_F(FileCheck, NamesRunsWithAnotherExperiment) {
  const auto withExperiment = [this](const std::string& content) {
    event::Value value{"_hparams_/experiment", std::monostate(), event::SummaryMetadata()};
    value.metadata->pluginName = event::kHparamsPlugin;
    value.metadata->pluginContent = content;
    return check({valueAt(0, value)});
  };
  const std::vector<CheckReport> reports{check({scalar(1)}), withExperiment("a"),
                                         withExperiment("a"), withExperiment("b")};
  const std::vector<Finding> conflicts = findExperimentConflicts(reports);
  ASSERT_EQ(conflicts.size(), 1u);
  EXPECT_EQ(conflicts[0].rule, "experiment-conflict");
  EXPECT_THAT(conflicts[0].message, HasSubstr("expected the same in all runs"));
  EXPECT_EFFECTS(conflicts[0], kLoss, kLoss);
}

TEST_F(FileCheck, CountsFindingsBeyondTheLimit) {
  std::string bytes = framed({version()});
  for (int step = 0; step < 5; ++step) {
    bytes += "damage" + framed({scalar(step)});
  }
  CheckOptions options;
  options.maxFindings = 2;
  const CheckReport report = checkEventFile(writeBytes("events", bytes), options);
  EXPECT_EQ(report.findings.size(), 2u);
  EXPECT_EQ(report.moreFindings, 3u);
  EXPECT_EQ(report.records, 6u);
  EXPECT_EFFECTS(report, kLoss, kLoss);
}

TEST_F(FileCheck, ReportsItsProgress) {
  const std::string bytes = framed({version(), scalar(1)});
  std::uint64_t reported = 0;
  CheckOptions options;
  options.onProgress = [&](std::uint64_t done) { reported = done; };
  checkEventFile(writeBytes("events", bytes), options);
  EXPECT_EQ(reported, bytes.size());
}

}  // namespace
}  // namespace steptape
