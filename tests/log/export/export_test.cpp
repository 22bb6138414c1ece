// SPDX-License-Identifier: Apache-2.0
#include "steptape/log/export.h"

#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/events/plugin_content.h"

#include "log/export/media_files.h"
#include "log/reader/log_dir_fixture.h"
#include "support/expect_error.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr char kFile[] = "run/events.out.tfevents.1";

class ExportTest : public LogDirFixture {
 protected:
  using Function = ExportResult (*)(const std::vector<RunFiles>&, const ExportOptions&,
                                    const ExportSink&);

  /// Returns the text without the log directory's name.
  std::string exported(Function exportRuns, const ExportOptions& options = {}) {
    std::string text;
    result_ =
        exportRuns(listRuns(root_), options, [&](std::string_view piece) { text.append(piece); });
    for (std::size_t at; (at = text.find(root_ + "/")) != std::string::npos;) {
      text.erase(at, root_.size() + 1);
    }
    return text;
  }
  /// Returns the only line of records, without members that all lines have.
  nlohmann::json record(const ExportOptions& options = {}) {
    nlohmann::json json = nlohmann::json::parse(exported(exportJsonl, options));
    for (const char* common : {"run", "tag", "plugin", "step", "wall_time"}) {
      EXPECT_EQ(json.erase(common), 1) << common;
    }
    return json;
  }
  /// Returns a value of one or more strings under the tag "tag".
  static event::Value stringsOf(const char* plugin, std::vector<std::int64_t> shape,
                                std::vector<std::string> strings) {
    event::Tensor tensor;
    tensor.type = event::TensorType::kString;
    tensor.shape = std::move(shape);
    tensor.strings = std::move(strings);
    return ofPlugin(plugin, std::move(tensor));
  }
  static event::Value ofPlugin(const char* plugin, event::Value::Data data,
                               std::string content = "") {
    event::Value value{"tag", std::move(data), event::SummaryMetadata()};
    value.metadata->pluginName = plugin;
    value.metadata->pluginContent = std::move(content);
    return value;
  }
  template <typename Number>
  static event::Tensor numbers(event::TensorType type, std::vector<std::int64_t> shape,
                               const std::vector<Number>& elements) {
    event::Tensor tensor = std::get<event::Tensor>(tensorValue<Number>("", type, elements).data);
    tensor.shape = std::move(shape);
    return tensor;
  }
  void writeValue(event::Value value) {
    writeEvents(kFile, {eventAt(1, event::Summary{{std::move(value)}})});
  }

  ExportResult result_;
};

TEST_F(ExportTest, JsonHasCurvesByDirectoryAndTag) {
  writeEvents(kFile,
              {simpleScalar("b", 0.5F, 1), simpleScalar("a", 1, 2), simpleScalar("b", 0.1F, 2)});
  EXPECT_EQ(exported(exportJson),
            "{\n\"run/a\": [[1002, 2, 1]],\n"
            "\"run/b\": [[1001, 1, 0.5], [1002, 2, 0.10000000149011612]]\n}\n");
  EXPECT_EQ(result_.values, 3);
}

TEST_F(ExportTest, JsonIsAnEmptyObjectWithoutScalars) {
  writeValue(stringsOf("text", {}, {"text"}));
  EXPECT_EQ(exported(exportJson), "{}\n");
  EXPECT_EQ(result_.values, 0);
}

TEST_F(ExportTest, JsonNamesACurveOfASubRunByItsDirectory) {
  writeEvents("run/both/curves/a/events.out.tfevents.1", {simpleScalar("both/curves", 1, 1)});
  EXPECT_THAT(exported(exportJson), StartsWith("{\n\"run/both/curves/a\": "));
}

TEST_F(ExportTest, JsonSeparatesTagsIfARunHasSeveral) {
  writeEvents("loss/a/events.out.tfevents.1",
              {simpleScalar("loss", 1, 1), simpleScalar("other", 1, 1)});
  const std::string json = exported(exportJson);
  EXPECT_THAT(json, HasSubstr("\"loss/a/loss\""));
  EXPECT_THAT(json, HasSubstr("\"loss/a/other\""));
}

TEST_F(ExportTest, JsonSeparatesCurvesOfTheSamePath) {
  writeEvents("a/events.out.tfevents.1",
              {simpleScalar("b/x", 1, 1), simpleScalar("b/x (2)", 2, 2)});
  writeEvents("a/b/events.out.tfevents.1", {simpleScalar("x", 3, 3), simpleScalar("y", 4, 4)});
  EXPECT_EQ(exported(exportJson),
            "{\n"
            "\"a/b/x\": [[1001, 1, 1]],\n"
            "\"a/b/x (3)\": [[1003, 3, 3]],\n"
            "\"a/b/x (2)\": [[1002, 2, 2]],\n"
            "\"a/b/y\": [[1004, 4, 4]]\n}\n");
  ASSERT_THAT(result_.notes, SizeIs(1));
  EXPECT_EQ(result_.notes[0], "the name \"" + path("a/b/x") + "\" is taken: the tag \"x\" of " +
                                  path("a/b") + " is written as \"" + path("a/b/x (3)") + "\"");
}

TEST_F(ExportTest, JsonGivesNoOtherNameForACurveWithoutPoints) {
  writeEvents("a/events.out.tfevents.1", {simpleScalar("b/x", 1, 1)});
  writeEvents("a/b/events.out.tfevents.1", {simpleScalar("x", 3, 3), simpleScalar("y", 4, 4)});
  ExportOptions options;
  options.fromStep = 3;
  EXPECT_EQ(exported(exportJson, options),
            "{\n\"a/b/x\": [[1003, 3, 3]],\n\"a/b/y\": [[1004, 4, 4]]\n}\n");
  EXPECT_THAT(result_.notes, IsEmpty());
}

TEST_F(ExportTest, JsonOfMoreThanFitsIntoMemoryIsTheSame) {
  std::vector<event::Event> events;
  for (int i = 0; i < 800'000; ++i) {
    events.push_back(simpleScalar(i % 2 == 0 ? "even" : "odd", static_cast<float>(i), i));
  }
  writeEvents(kFile, events);
  ExportOptions options;
  options.temporaryPrefix = path("spool");
  const nlohmann::json json = nlohmann::json::parse(exported(exportJson, options));
  for (const std::size_t odd : {0U, 1U}) {
    const nlohmann::json& points = json.at(odd == 0 ? "run/even" : "run/odd");
    ASSERT_EQ(points.size(), events.size() / 2);
    for (std::size_t i = 0; i < points.size(); ++i) {
      ASSERT_EQ(points[i][1], 2 * i + odd);
      ASSERT_EQ(points[i][2], 2 * i + odd);
    }
  }
}

TEST_F(ExportTest, JsonlHasALineForEachValueInTheOrderOfWriting) {
  writeEvents(kFile, {simpleScalar("b", 0.5F, 1), simpleScalar("a\"\n", -1, -2)});
  EXPECT_EQ(
      exported(exportJsonl),
      R"({"run":"run","tag":"b","plugin":"scalars","step":1,"wall_time":1001.0,"value":0.5})"
      "\n"
      R"({"run":"run","tag":"a\"\n","plugin":"scalars","step":-2,"wall_time":998.0,"value":-1.0})"
      "\n");
}

TEST_F(ExportTest, JsonlHasNumbersThatJsonLacksAsStrings) {
  writeEvents(kFile, {simpleScalar("x", std::nanf(""), 1)});
  EXPECT_EQ(record().dump(), R"({"value":"NaN"})");
}

TEST_F(ExportTest, JsonlHasTexts) {
  writeValue(stringsOf("text", {1}, {"one \xff"}));
  EXPECT_EQ(record().dump(), "{\"value\":\"one \xef\xbf\xbd\"}");
  writeValue(stringsOf("text", {2, 1}, {"a", "b"}));
  EXPECT_EQ(record().dump(), R"({"shape":[2,1],"value":["a","b"]})");
}

TEST_F(ExportTest, JsonlHasHistogramsOfBothForms) {
  writeValue(ofPlugin("histograms",
                      numbers<double>(event::TensorType::kDouble, {2, 3}, {0, 0.5, 3, 0.5, 1, 4})));
  EXPECT_EQ(record().dump(), R"({"value":[[0.0,0.5,3.0],[0.5,1.0,4.0]]})");
  event::SummaryHistogram compatible;
  compatible.min = -1;
  compatible.max = 2;
  compatible.bucketLimits = {0, 1e300};
  compatible.bucketCounts = {3, 4};
  writeValue(event::Value{"tag", compatible, std::nullopt});
  EXPECT_EQ(record().dump(), R"({"value":[[-1.0,0.0,3.0],[0.0,2.0,4.0]]})");
}

TEST_F(ExportTest, JsonlHasTensors) {
  writeValue(
      ofPlugin("mine", numbers<std::int64_t>(event::TensorType::kInt64, {2, 1},
                                             {std::numeric_limits<std::int64_t>::min(), 2})));
  EXPECT_EQ(record().dump(), R"({"dtype":"int64","shape":[2,1],"value":[-9223372036854775808,2]})");
  // 1, -2, the least number and infinity of binary16
  writeValue(ofPlugin("mine", numbers<std::uint16_t>(event::TensorType::kHalf, {4},
                                                     {0x3c00, 0xc000, 0x0001, 0x7c00})));
  EXPECT_EQ(
      record().dump(),
      R"({"dtype":"float16","shape":[4],"value":[1.0,-2.0,5.960464477539063e-08,"Infinity"]})");
  writeValue(ofPlugin("mine", numbers<std::uint16_t>(event::TensorType::kBFloat16, {}, {0x3f80})));
  EXPECT_EQ(record().dump(), R"({"dtype":"bfloat16","shape":[],"value":1.0})");
  writeValue(ofPlugin("mine", numbers<std::uint64_t>(event::TensorType::kUInt64, {1}, {~0ULL})));
  EXPECT_EQ(record().dump(), R"({"dtype":"uint64","shape":[1],"value":[18446744073709551615]})");
  writeValue(ofPlugin("mine", numbers<char>(event::TensorType::kBool, {2}, {0, 1})));
  EXPECT_EQ(record().dump(), R"({"dtype":"bool","shape":[2],"value":[false,true]})");
}

TEST_F(ExportTest, JsonlHasPrCurves) {
  const std::vector<float> rows = {1, 2, 3, 4, 5, 6, 7, 8, 0.5F, 1, 0.25F, 0};
  writeValue(ofPlugin("pr_curves", numbers<float>(event::TensorType::kFloat, {6, 2}, rows)));
  EXPECT_EQ(record()["value"],
            nlohmann::json::parse(R"({"true_positives":[1,2],"false_positives":[3,4],
                "true_negatives":[5,6],"false_negatives":[7,8],"precision":[0.5,1],
                "recall":[0.25,0]})"));
}

TEST_F(ExportTest, JsonlHasHparams) {
  HparamsSessionStart session;
  session.hparams = {{"lr", 0.1}, {"amp", true}, {"optimizer", "sgd"}};
  session.groupName = "trial";
  session.startTime = 12.5;
  writeValue(ofPlugin("hparams", std::monostate(), encodeHparamsContent(session)));
  EXPECT_EQ(record()["value"],
            nlohmann::json::parse(R"({"session_start":{"hparams":{"lr":0.1,"amp":true,
                "optimizer":"sgd"},"group_name":"trial","start_time":12.5}})"));
  writeValue(ofPlugin("hparams", std::monostate(),
                      encodeHparamsContent(HparamsSessionEnd{SessionStatus::kFailure, 2})));
  EXPECT_EQ(record()["value"],
            nlohmann::json::parse(R"({"session_end":{"status":"failure","end_time":2}})"));
  HparamsExperiment experiment;
  experiment.hparams = {{"lr", "", "", {}, std::pair(0.0, 1.0)}, {"opt", "", "", {"a", "b"}}};
  experiment.metrics = {{"loss"}};
  writeValue(ofPlugin("hparams", std::monostate(), encodeHparamsContent(experiment)));
  EXPECT_EQ(record()["value"], nlohmann::json::parse(R"({"experiment":{"description":"","hparams":[
                {"name":"lr","display_name":"","description":"","interval":[0,1]},
                {"name":"opt","display_name":"","description":"","discrete":["a","b"]}],
                "metrics":[{"tag":"loss","display_name":"","description":""}]}})"));
}

TEST_F(ExportTest, JsonlHasLayouts) {
  CustomScalarsLayout layout;
  layout.categories = {{"c",
                        {CustomScalarsChart::multiline("lines", {"a", "b"}),
                         CustomScalarsChart::margin("band", {"v", "l", "u"})}}};
  writeValue(stringsOf("custom_scalars", {}, {encodeLayout(layout)}));
  EXPECT_EQ(record()["value"], nlohmann::json::parse(R"({"categories":[{"title":"c","charts":[
                {"title":"lines","multiline":["a","b"]},
                {"title":"band","margin":[["v","l","u"]]}]}]})"));
}

TEST_F(ExportTest, JsonlDescribesMeshesAndGraphs) {
  event::MeshPluginData mesh;
  mesh.name = "cloud";
  mesh.part = event::MeshPart::kColor;
  writeValue(ofPlugin("mesh", numbers<char>(event::TensorType::kUInt8, {1, 1, 3}, {1, 2, 3}),
                      event::meshPluginContent(mesh)));
  EXPECT_EQ(record(), nlohmann::json::parse(R"({"mesh":"cloud","part":"colors",
                          "dtype":"uint8","shape":[1,1,3],"bytes":3})"));
  writeEvents(kFile, {eventAt(0, event::GraphDef{"12345"})});
  EXPECT_EQ(record().dump(), R"({"bytes":5})");
}

TEST_F(ExportTest, JsonlDescribesImagesAndAudio) {
  writeValue(stringsOf("images", {3}, {"4", "2", "\x89PNG\r\n\x1a\n..."}));
  EXPECT_EQ(record(), nlohmann::json::parse(
                          R"({"width":4,"height":2,"images":[{"format":"png","bytes":11}]})"));
  writeValue(event::Value{"tag", event::SummaryAudio{8000, 1, 5, "RIFF1234WAVE", "audio/wav"},
                          std::nullopt});
  EXPECT_EQ(record(), nlohmann::json::parse(R"({"content_type":"audio/wav","sample_rate":8000,
                          "clips":[{"format":"wav","bytes":12}]})"));
}

TEST_F(ExportTest, JsonlShowsAValueThatDoesNotFitItsPluginAsATensor) {
  writeValue(ofPlugin("histograms", numbers<float>(event::TensorType::kFloat, {2}, {1, 2})));
  EXPECT_EQ(record().dump(), R"({"dtype":"float32","shape":[2],"value":[1.0,2.0]})");
  writeValue(ofPlugin("text", std::monostate()));
  EXPECT_EQ(record()["value"], nullptr);
  EXPECT_THAT(record()["problem"], HasSubstr("text: got no data"));
}

TEST_F(ExportTest, MediaGoToFiles) {
  writeEvents(
      "r/events.out.tfevents.1",
      {eventAt(7, event::Summary{{stringsOf("images", {4}, {"1", "1", "GIF8 one", "two"})}}),
       eventAt(7, event::Summary{{stringsOf("images", {3}, {"1", "1", "three"})}})});
  ExportOptions options;
  options.mediaDirectory = path("media");
  std::istringstream lines(exported(exportJsonl, options));
  std::vector<std::string> files;
  for (std::string line; std::getline(lines, line);) {
    const nlohmann::json json = nlohmann::json::parse(line);
    for (const nlohmann::json& image : json["images"]) {
      files.push_back(image["file"]);
    }
  }
  ASSERT_THAT(files, SizeIs(3));
  EXPECT_THAT(files[0], StartsWith("media/"));
  EXPECT_THAT(files[0], ::testing::EndsWith("/tag/7_0.gif"));
  EXPECT_EQ(contentOf(files[0]), "GIF8 one");
  EXPECT_EQ(contentOf(files[1]), "two");
  EXPECT_EQ(contentOf(files[2]), "three");
  EXPECT_THAT(files[2], ::testing::EndsWith("/tag/7_2.bin"));
}

TEST_F(ExportTest, MediaThatCannotBeWrittenEndTheExport) {
  writeValue(stringsOf("images", {3}, {"1", "1", "image"}));
  ExportOptions options;
  options.mediaDirectory = writeBytes("file", "");
  const Error error = test::errorOf([&] { exported(exportJsonl, options); });
  EXPECT_EQ(error.code(), ErrorCode::kIoError);
  EXPECT_THAT(error.what(), StartsWith("cannot create " + path("file") + "/"));
}

TEST_F(ExportTest, MediaOnAFullDiskEndTheExportAndLeaveNoPartialFile) {
  writeValue(stringsOf("images", {3}, {"1", "1", std::string(100'000, 'x')}));
  ExportOptions options;
  options.mediaDirectory = path("media");
  const std::string directory =
      options.mediaDirectory + "/" + detail::log::fileNameFrom(path("run")) + "/tag";
  std::filesystem::create_directories(directory);
  const std::string file = directory + "/1_0.bin";
  std::filesystem::create_symlink("/dev/full", file);
  const Error error = test::errorOf([&] { exported(exportJsonl, options); });
  EXPECT_EQ(error.code(), ErrorCode::kIoError);
  EXPECT_EQ(error.what(), "cannot write " + file + ": No space left on device");
  EXPECT_FALSE(std::filesystem::is_symlink(file));
}

TEST_F(ExportTest, MediaWithoutAWritableFileEndTheExport) {
  writeValue(stringsOf("images", {3}, {"1", "1", "image"}));
  ExportOptions options;
  options.mediaDirectory = path("media");
  const std::string file =
      options.mediaDirectory + "/" + detail::log::fileNameFrom(path("run")) + "/tag/1_0.bin";
  std::filesystem::create_directories(file);
  const Error error = test::errorOf([&] { exported(exportJsonl, options); });
  EXPECT_EQ(error.what(), "cannot write " + file + ": Is a directory");
}

TEST(MediaFileName, CannotLeaveItsDirectory) {
  EXPECT_EQ(detail::log::fileNameFrom(".."), "%2E.");
  EXPECT_EQ(detail::log::fileNameFrom("."), "%2E");
  EXPECT_EQ(detail::log::fileNameFrom(""), "%");
  EXPECT_EQ(detail::log::fileNameFrom("/a/../b"), "%2Fa%2F..%2Fb");
  EXPECT_EQ(detail::log::fileNameFrom(std::string("a\0b", 3)), "a%00b");
}

TEST(MediaFileName, KeepsDifferentNamesDifferent) {
  EXPECT_EQ(detail::log::fileNameFrom("a%2Fb"), "a%252Fb");
  EXPECT_EQ(detail::log::fileNameFrom("sch\xc3\xb6n"), "sch\xc3\xb6n");
  EXPECT_EQ(detail::log::fileNameFrom("\xff"), "%FF");
  const std::string longName(1000, 'a');
  EXPECT_THAT(detail::log::fileNameFrom(longName), SizeIs(::testing::Le(255)));
  EXPECT_NE(detail::log::fileNameFrom(longName), detail::log::fileNameFrom(longName + "a"));
}

TEST_F(ExportTest, LongCsvHasALineForEachPoint) {
  writeEvents(kFile, {simpleScalar("b", 0.5F, 1), simpleScalar("a,\"x\"", -HUGE_VALF, 2),
                      simpleScalar("b", std::nanf(""), 3)});
  ExportOptions options;
  options.csvLayout = CsvLayout::kLong;
  EXPECT_EQ(exported(exportCsv, options),
            "run,tag,step,wall_time,value\n"
            "run,b,1,1001.0,0.5\n"
            "run,\"a,\"\"x\"\"\",2,1002.0,-inf\n"
            "run,b,3,1003.0,NaN\n");
}

TEST_F(ExportTest, WideCsvHasAColumnForEachTagAndARowForEachStep) {
  writeEvents(kFile, {version(), simpleScalar("b", 1, 10), simpleScalar("a", 2, 10),
                      simpleScalar("b", 3, -5), simpleScalar("a", 4, 11)});
  EXPECT_EQ(exported(exportCsv), "step,a,b\n-5,,3.0\n10,2.0,1.0\n11,4.0,\n");
}

TEST_F(ExportTest, WideCsvNamesTheRunsOfSeveral) {
  writeEvents("one/events.out.tfevents.1", {simpleScalar("x", 1, 1)});
  writeEvents("two/events.out.tfevents.1", {simpleScalar("x", 2, 1)});
  EXPECT_EQ(exported(exportCsv), "step,one/x,two/x\n1,1.0,2.0\n");
}

TEST_F(ExportTest, WideCsvHasNoTwoColumnsOfOneName) {
  writeEvents("a/events.out.tfevents.1", {simpleScalar("b/x", 1, 1)});
  writeEvents("a/b/events.out.tfevents.1", {simpleScalar("x", 2, 1)});
  EXPECT_EQ(exported(exportCsv), "step,a/b/x,a/b/x (2)\n1,1.0,2.0\n");
  EXPECT_THAT(result_.notes, SizeIs(1));
}

TEST_F(ExportTest, WideCsvHasAnotherNameForATagThatIsCalledStep) {
  writeEvents(kFile, {simpleScalar("step", 0.5F, 7), simpleScalar("loss", 2, 7)});
  EXPECT_EQ(exported(exportCsv), "step,loss,step (2)\n7,2.0,0.5\n");
  ASSERT_THAT(result_.notes, SizeIs(1));
  EXPECT_THAT(result_.notes[0], HasSubstr("the name \"step\" is taken: the tag \"step\" of "));
}

TEST_F(ExportTest, WideCsvNotesColumnsThatDifferOnlyInCase) {
  writeEvents(kFile, {simpleScalar("Loss", 1, 1), simpleScalar("loss", 2, 1)});
  EXPECT_EQ(exported(exportCsv), "step,Loss,loss\n1,1.0,2.0\n");
  ASSERT_THAT(result_.notes, SizeIs(1));
  EXPECT_THAT(result_.notes[0],
              StartsWith("the columns \"Loss\" and \"loss\" differ only in case"));
}

TEST_F(ExportTest, CsvHasNoDoubleThatLooksLikeAnInteger) {
  writeEvents(kFile, {simpleScalar("x", 0, 1), simpleScalar("x", -3, 2),
                      simpleScalar("x", 100'000, 3), simpleScalar("x", 1e20F, 4)});
  EXPECT_EQ(exported(exportCsv), "step,x\n1,0.0\n2,-3.0\n3,100000.0\n4,1.0000000200408773e+20\n");
}

TEST_F(ExportTest, TagsThatDifferOnlyInInvalidBytesStayDifferent) {
  writeEvents(kFile, {simpleScalar("x\xfe", 1, 1), simpleScalar("x\xff", 2, 2)});
  ExportOptions options;
  options.csvLayout = CsvLayout::kLong;
  EXPECT_EQ(exported(exportCsv, options),
            "run,tag,step,wall_time,value\n"
            "run,x\xef\xbf\xbd,1,1001.0,1.0\n"
            "run,x\xef\xbf\xbd (2),2,1002.0,2.0\n");
  EXPECT_THAT(exported(exportJsonl), HasSubstr("\"tag\":\"x\xef\xbf\xbd (2)\""));
  EXPECT_THAT(exported(exportJson), HasSubstr("run/x\xef\xbf\xbd (2)\": [[1002, 2, 2]]"));
}

TEST_F(ExportTest, NamesTheValuesThatAFormatOfScalarsDoesNotHave) {
  event::Value number = tensorValue<float>("custom", event::TensorType::kFloat, {1});
  number.metadata = event::SummaryMetadata();
  number.metadata->pluginName = "custom";
  event::Value two = ofScalarsPlugin(tensorValue<float>("two", event::TensorType::kFloat, {1, 2}));
  event::Value text = stringsOf("text", {}, {"no scalar"});
  writeEvents(kFile, {eventAt(1, event::Summary{{number}}), eventAt(2, event::Summary{{number}}),
                      eventAt(1, event::Summary{{two}}), eventAt(1, event::Summary{{text}}),
                      simpleScalar("loss", 1, 1)});
  for (const Function format : {exportCsv, exportJson}) {
    exported(format);
    EXPECT_EQ(result_.values, 1U);
    EXPECT_THAT(result_.notes,
                ElementsAre("2 values of the tag \"custom\" in " + path("run") +
                                " left out: got numbers of the plugin \"custom\"; expected "
                                "\"scalars\"; the format jsonl has all values",
                            "1 value of the tag \"two\" in " + path("run") +
                                " left out: got no numbers; the format jsonl has all values"));
  }
  exported(exportJsonl);
  EXPECT_EQ(result_.values, 5U);
  EXPECT_THAT(result_.notes, IsEmpty());
}

TEST_F(ExportTest, HasScalarsOfEveryType) {
  constexpr std::int64_t kOdd = (std::int64_t{1} << 53) + 1;
  const auto scalar = [](event::Value value) {
    return eventAt(1, event::Summary{{ofScalarsPlugin(std::move(value))}});
  };
  writeEvents(kFile,
              {scalar(tensorValue<std::int64_t>("int", event::TensorType::kInt64, {kOdd})),
               scalar(tensorValue<char>("bool", event::TensorType::kBool, {1})),
               scalar(tensorValue<std::uint16_t>("half", event::TensorType::kHalf, {0x3800})),
               scalar(tensorValue<std::uint16_t>("brain", event::TensorType::kBFloat16, {0x3fc0})),
               scalar(tensorValue<double>("double", event::TensorType::kDouble, {0.1}))});
  EXPECT_EQ(exported(exportCsv),
            "step,bool,brain,double,half,int\n1,1.0,1.5,0.1,0.5,9007199254740992.0\n");
  EXPECT_THAT(result_.notes,
              ElementsAre("1 value of the tag \"int\" in " + path("run") +
                          " rounded: got integers that no double equals; the format jsonl has all "
                          "values"));
  EXPECT_THAT(exported(exportJson), HasSubstr("\"run/bool\": [[1001, 1, 1]]"));
  const std::string records = exported(exportJsonl);
  EXPECT_THAT(records, HasSubstr(R"("dtype":"int64","shape":[],"value":9007199254740993})"));
  EXPECT_THAT(records, HasSubstr(R"("dtype":"bool","shape":[],"value":true})"));
  EXPECT_THAT(records, HasSubstr(R"("wall_time":1001.0,"value":0.1})"));
  EXPECT_THAT(result_.notes, IsEmpty());
}

TEST_F(ExportTest, JsonlNamesThePluginOfEachValueUnderOneTag) {
  const event::Event histogram =
      eventAt(1, event::Summary{{event::Value{
                     "x", event::SummaryHistogram{0, 2, 7, 6, 8, {1, 2}, {3, 4}}, std::nullopt}}});
  const event::Event scalar = simpleScalar("x", 1, 1);
  for (const auto& events : {std::vector{scalar, histogram}, std::vector{histogram, scalar}}) {
    writeEvents(kFile, events);
    const std::string records = exported(exportJsonl);
    EXPECT_THAT(records,
                HasSubstr(R"("plugin":"scalars","step":1,"wall_time":1001.0,"value":1.0})"));
    EXPECT_THAT(records,
                HasSubstr(R"("plugin":"histograms","step":1,"wall_time":1001.0,"value":[[)"));
    EXPECT_EQ(exported(exportCsv), "step,x\n1,1.0\n");
    EXPECT_THAT(result_.notes, ElementsAre("1 value of the tag \"x\" in " + path("run") +
                                           " left out: got no numbers; the format jsonl has all "
                                           "values"));
  }
}

TEST_F(ExportTest, WideCsvHasMoreRowsIfATagHasSeveralValues) {
  writeEvents(kFile, {simpleScalar("a", 1, 1), simpleScalar("a", 2, 1), simpleScalar("b", 3, 1),
                      simpleScalar("b", 4, 2)});
  EXPECT_EQ(exported(exportCsv), "step,a,b\n1,1.0,3.0\n1,2.0,\n2,,4.0\n");
}

TEST_F(ExportTest, WideCsvKeepsTheValuesOfAStepThatCameAgain) {
  writeEvents(kFile, {version(), simpleScalar("a", 1, 1), simpleScalar("a", 2, 2),
                      simpleScalar("a", 3, 1)});
  EXPECT_EQ(exported(exportCsv), "step,a\n1,1.0\n1,3.0\n2,2.0\n");
}

TEST_F(ExportTest, WideCsvOfMoreThanFitsIntoMemoryIsSorted) {
  constexpr int kPoints = 1'500'000;
  std::vector<event::Event> events = {version()};
  events.reserve(1 + kPoints);
  for (int i = 0; i < kPoints; ++i) {
    // Every step once, in another order: 7 and the number are coprime.
    const auto step = static_cast<std::int64_t>(i) * 7 % kPoints;
    events.push_back(simpleScalar(step % 2 == 0 ? "even" : "odd", static_cast<float>(step), step));
  }
  writeEvents(kFile, events);
  ExportOptions options;
  options.temporaryPrefix = path("spool");
  std::istringstream lines(exported(exportCsv, options));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "step,even,odd");
  for (int step = 0; step < kPoints; ++step) {
    ASSERT_TRUE(std::getline(lines, line));
    const std::string number = std::to_string(step);
    const double value = std::stod(
        line.substr(line.find_last_not_of(",", line.find(',')) + 1 + (step % 2 == 0 ? 1 : 2)));
    ASSERT_EQ(line.substr(0, line.find(',')), number);
    ASSERT_EQ(value, step);
  }
  EXPECT_FALSE(std::getline(lines, line));
}

TEST_F(ExportTest, TakesOnlyWantedTagsAndSteps) {
  writeEvents(kFile, {simpleScalar("a", 1, 1), simpleScalar("a", 2, 2), simpleScalar("a", 3, 3),
                      simpleScalar("b", 2, 2)});
  ExportOptions options;
  options.wantsTag = [](std::string_view tag) { return tag == "a"; };
  options.fromStep = 2;
  options.toStep = 2;
  EXPECT_EQ(exported(exportJson, options), "{\n\"run/a\": [[1002, 2, 2]]\n}\n");
  EXPECT_EQ(result_.values, 1);
}

TEST_F(ExportTest, LeavesOutPointsThatARestartRewroteByDefault) {
  writeEvents(kFile, {version(), simpleScalar("x", 1, 1), start(1), simpleScalar("x", 2, 1)});
  EXPECT_EQ(exported(exportCsv), "step,x\n1,2.0\n");
  ExportOptions options;
  options.purge = PurgePolicy::kNone;
  EXPECT_EQ(exported(exportCsv, options), "step,x\n1,1.0\n1,2.0\n");
}

TEST_F(ExportTest, ReportsBothPassesOverEachRunHoweverSmall) {
  std::uint64_t bytes = 0;
  std::vector<std::uint64_t> wanted;
  for (const char* run : {"a", "b", "c"}) {
    const std::string file = std::string(run) + "/events.out.tfevents.1";
    bytes += 2 * std::filesystem::file_size(writeEvents(file, {simpleScalar(run, 1, 1)}));
    wanted.push_back(bytes);
  }
  std::vector<std::uint64_t> reports;
  ExportOptions options;
  options.onProgress = [&](std::uint64_t done) { reports.push_back(done); };
  exported(exportJson, options);
  EXPECT_EQ(reports, wanted);
}

TEST_F(ExportTest, ReportsDamageOfAllRuns) {
  const std::string bytes = framed({simpleScalar("x", 1, 1)});
  writeBytes("a/events.out.tfevents.1", bytes.substr(1) + bytes);
  writeBytes("b/events.out.tfevents.1", bytes.substr(0, 20));
  exported(exportJsonl);
  EXPECT_EQ(result_.values, 1);
  EXPECT_THAT(result_.damage, SizeIs(2));
}

TEST_F(ExportTest, EndsWithWhatTheSinkThrows) {
  writeEvents(kFile, {simpleScalar("x", 1, 1)});
  for (const Function exportRuns : {exportJson, exportJsonl, exportCsv}) {
    EXPECT_THROW(exportRuns(listRuns(root_), {},
                            [](std::string_view) { throw Error(ErrorCode::kIoError, "full"); }),
                 Error);
  }
}

TEST_F(ExportTest, ReportsWhyItsTemporaryFileCannotBeCreated) {
  std::vector<event::Event> events(800'000, simpleScalar("x", 1, 1));
  writeEvents(kFile, events);
  ExportOptions options;
  options.temporaryPrefix = path("absent/spool");
  const Error error = test::errorOf([&] { exported(exportJson, options); });
  EXPECT_THAT(error.what(), HasSubstr("cannot create the temporary file " + path("absent/spool")));
}

}  // namespace
}  // namespace steptape
