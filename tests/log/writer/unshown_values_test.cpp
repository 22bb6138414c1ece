// SPDX-License-Identifier: Apache-2.0
//
// What TensorBoard does not show is reported once.
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "steptape/events/graph.h"
#include "steptape/events/plugin_content.h"
#include "steptape/log/summary_writer.h"

#include "log/writer/writer_fixture.h"
#include "support/expect_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// A call that adds a value of one kind under the tag "x".
struct Kind {
  std::string name;
  std::function<void(SummaryWriter&, std::int64_t)> add;
};

std::vector<Kind> allKinds() {
  static const std::vector<float> kNumbers = {0, 0.5F, 1};
  static const std::vector<std::uint8_t> kPixels(12);
  static const std::vector<int> kLabels = {0, 1, 1};
  return {
      {"scalars", [](SummaryWriter& w, std::int64_t step) { w.addScalar("x", 0.5, step); }},
      {"histograms",
       [](SummaryWriter& w, std::int64_t step) { w.addHistogram("x", kNumbers, step); }},
      {"images",
       [](SummaryWriter& w, std::int64_t step) {
         w.addImage("x", {kPixels.data(), {3, 2, 2}}, step);
       }},
      {"text", [](SummaryWriter& w, std::int64_t step) { w.addText("x", "text", step); }},
      {"audio", [](SummaryWriter& w, std::int64_t step) { w.addAudio("x", kNumbers, step); }},
      {"pr_curves",
       [](SummaryWriter& w, std::int64_t step) { w.addPrCurve("x", kLabels, kNumbers, step); }},
      {"tensor", [](SummaryWriter& w, std::int64_t step) { w.addTensor("x", kNumbers, step); }},
  };
}

event::Value tensorScalar(event::TensorType type, std::vector<std::int64_t> shape,
                          std::string content) {
  event::Value value;
  value.tag = "x";
  event::Tensor tensor;
  tensor.type = type;
  tensor.shape = std::move(shape);
  tensor.content = std::move(content);
  value.data = std::move(tensor);
  value.metadata =
      event::SummaryMetadata{event::kScalarsPlugin, "", "", "", event::DataClass::kScalar};
  return value;
}

class UnshownValues : public WriterFixture {};

TEST_F(UnshownValues, TwoKindsUnderOneTagAreReportedOnceForAnyTwoKinds) {
  for (const Kind& first : allKinds()) {
    for (const Kind& second : allKinds()) {
      SCOPED_TRACE(first.name + ", " + second.name);
      const testing::TempDir directory;
      std::vector<std::string> reports;
      WriterOptions options;
      options.onError = [&](const Status& status) { reports.push_back(status.message()); };
      SummaryWriter writer(directory.string(), options);
      for (std::int64_t step = 0; step < 3; ++step) {
        first.add(writer, 2 * step);
        expectOk(writer.flush());  // Large values may be written after later scalars.
        second.add(writer, 2 * step + 1);
        expectOk(writer.flush());
      }
      expectOk(writer.close());
      if (first.name == second.name) {
        EXPECT_THAT(reports, IsEmpty());
      } else {
        EXPECT_THAT(reports,
                    ElementsAre("\"x\" in " + directory.string() + ": got " + second.name +
                                " after " + first.name +
                                "; expected one kind of value for each tag: TensorBoard regards "
                                "all values of the tag as " +
                                first.name + ", and shows nothing of it, or not all. Give the " +
                                second.name + " another tag"));
      }
    }
  }
}

TEST_F(UnshownValues, AClashIsReportedOnceHoweverTheScalarIsLoggedAndInWhateverFile) {
  WriterOptions options;
  options.maxFileBytes = 1;
  SummaryWriter writer = open(options);
  const ScalarTag handle = writer.scalarTag("x");
  for (std::int64_t step = 0; step < 3; ++step) {
    writer.addScalar(handle, 1, 3 * step);
    writer.atStep(3 * step + 1).add("x", 2);
    writer.addHistogram("x", std::vector<float>{1, 2}, step);
    writer.addScalars("x", {{"curve", 1}}, step);  // another run
    expectOk(writer.flush());
  }
  EXPECT_THAT(reports(), ElementsAre(HasSubstr("got histograms after scalars")));
}

TEST_F(UnshownValues, BothFormsOfOneKindAreNoClash) {
  SummaryWriter writer = open();
  writer.addScalar("x", 1, 0);
  expectOk(writer.flush());
  writer.addSummary({{tensorScalar(event::TensorType::kFloat, {}, std::string(4, '\0'))}}, 1);
  expectOk(writer.close());
  EXPECT_THAT(reports(), IsEmpty());
}

TEST_F(UnshownValues, AScalarThatIsNoSingleFloatIsReported) {
  const std::vector<std::pair<event::Value, std::string>> cases = {
      {tensorScalar(event::TensorType::kBFloat16, {}, "ab"), "type 14, shape () and 2 bytes"},
      {tensorScalar(event::TensorType::kDouble, {}, "abcdefgh"), "type 2, shape () and 8 bytes"},
      {tensorScalar(event::TensorType::kFloat, {2}, "abcdefgh"), "type 1, shape (2) and 8 bytes"},
      {tensorScalar(event::TensorType::kFloat, {}, ""), "type 1, shape () and 0 bytes"},
  };
  for (const auto& [value, got] : cases) {
    const testing::TempDir directory;
    std::vector<std::string> reports;
    WriterOptions options;
    options.onError = [&](const Status& status) { reports.push_back(status.message()); };
    SummaryWriter writer(directory.string(), options);
    writer.addSummary({{value}}, 0);
    writer.addSummary({{value}}, 1);
    expectOk(writer.close());
    EXPECT_THAT(reports,
                ElementsAre(AllOf(HasSubstr("\"x\""), HasSubstr("got a tensor of " + got +
                                                                "; expected a scalar of type 1"))));
  }
}

TEST_F(UnshownValues, ATensorOfNoPluginIsReported) {
  SummaryWriter writer = open();
  event::Value value = tensorScalar(event::TensorType::kFloat, {}, std::string(4, '\0'));
  value.metadata.reset();
  writer.addSummary({{value}}, 0);
  writer.addSummary({{value}}, 1);
  expectOk(writer.close());
  EXPECT_THAT(reports(), ElementsAre(HasSubstr("got a tensor without a plugin")));
}

TEST_F(UnshownValues, AnImageOrAudioWithATagThatTheDataServerCannotReadIsReportedOnce) {
  const std::vector<std::uint8_t> pixels(12);
  const std::vector<float> samples = {0, 0.5F};
  SummaryWriter writer = open();
  for (int step = 0; step < 2; ++step) {
    writer.addImage("a \"cat\"", {pixels.data(), {3, 2, 2}}, step);
    writer.addAudio("C:\\clip", samples, step);
    writer.addScalar("\"loss\"", 0.5, step);
    writer.addImage("cat", {pixels.data(), {3, 2, 2}}, step);
  }
  expectOk(writer.close());
  const auto report = [](const char* tag) {
    return AllOf(HasSubstr(tag), HasSubstr("got a quotation mark, a backslash or a control "
                                           "character in the tag; expected none"));
  };
  EXPECT_THAT(reports(), ElementsAre(report("cat"), report("clip")));
}

TEST_F(UnshownValues, AnotherValueAtTheSameStepIsReportedOncePerTag) {
  SummaryWriter writer = open();
  for (const double value : {1, 2, 3}) {
    writer.addScalar("loss", value, 5);
    writer.addText("log", "line", 0);
  }
  expectOk(writer.close());
  EXPECT_THAT(reports(), ::testing::UnorderedElementsAre(
                             "\"loss\" in " + dir_.string() +
                                 ": got two values at step 5; expected one for each step: "
                                 "TensorBoard's data server shows only the last one",
                             AllOf(HasSubstr("\"log\""), HasSubstr("got two values at step 0"))));
}

TEST_F(UnshownValues, ARepeatedPointAndTheResultsOfHparamsAreNoLoss) {
  SummaryWriter writer = open();
  writer.addScalar("loss", 1, 5);
  writer.addScalar("loss", 1, 5);
  writer.addScalar("loss", std::nan(""), 6);
  writer.addScalar("loss", std::nan(""), 6);
  writer.addHparams({{"lr", 0.1}}, {{"loss", 2}});
  writer.resume(6);
  writer.addScalar("loss", 7, 6);
  expectOk(writer.close());
  EXPECT_THAT(reports(), IsEmpty());
}

TEST_F(UnshownValues, ASecondGraphIsReported) {
  event::Graph graph;
  graph.nodes.resize(1);
  graph.nodes[0].name = "a";
  SummaryWriter writer = open();
  writer.addGraph(graph);
  writer.addGraph(graph);
  writer.addGraph(graph);
  expectOk(writer.close());
  EXPECT_THAT(reports(), ElementsAre(AllOf(HasSubstr(dir_.string()),
                                           HasSubstr("got a second graph; expected one"))));
}

TEST_F(UnshownValues, ATagThatAGraphNeedsIsReported) {
  event::Graph graph;
  graph.nodes.resize(1);
  graph.nodes[0].name = "a";
  SummaryWriter writer = open();
  writer.addScalar("__run_graph__", 1, 0);
  writer.addScalar("step1", 1, 0);
  expectOk(writer.flush());
  writer.addGraph(graph);
  writer.addGraphStats({event::graphNodeStats(graph.nodes[0], 1, std::chrono::seconds(1), 0)},
                       "step1");
  expectOk(writer.close());
  EXPECT_THAT(reports(), ElementsAre(HasSubstr("got graph after scalars"),
                                     HasSubstr("got measurements of a graph after scalars")));
}

TEST_F(UnshownValues, RunMetadataWithoutATagIsRejected) {
  SummaryWriter writer = open();
  event::Event event;
  event.what = event::TaggedRunMetadata{};
  test::expectInvalidArgument([&] { writer.addEvent(event); },
                              "tag: got an empty string; expected a name such as \"loss/train\"");
}

TEST_F(UnshownValues, AClashIsNotForgottenAfterAResume) {
  SummaryWriter writer = open();
  writer.addScalar("x", 1, 0);
  writer.resume(0);
  writer.addText("x", "text", 0);
  expectOk(writer.close());
  EXPECT_THAT(reports(), ElementsAre(HasSubstr("got text after scalars")));
}

}  // namespace
}  // namespace steptape
