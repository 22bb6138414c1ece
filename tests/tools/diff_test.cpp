// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tools/steptape/runs/line_diff.h"
#include "tools/tool_fixture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using nlohmann::json;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Diff : public ToolFixture {
 protected:
  void writeRun(const std::string& run, const std::vector<event::Event>& events) const {
    writeEvents(run + "/events.out.tfevents.1", events);
  }
  static event::SummaryHistogram histogramOf(double count) {
    return {0, 1, count, 0, 0, {1}, {count}};
  }
  json diffAsJson(const std::string& arguments = "") const {
    return json::parse(steptape("diff a b --json " + arguments).out);
  }
  static event::Event textValue(const std::string& text, std::int64_t step) {
    event::Tensor tensor;
    tensor.type = event::TensorType::kString;
    tensor.strings = {text};
    event::Value value;
    value.tag = "note";
    value.data = tensor;
    value.metadata.emplace();
    value.metadata->pluginName = event::kTextPlugin;
    return eventAt(step, event::Summary{{value}});
  }
};

TEST_F(Diff, FindsNoDifferenceBetweenEqualRuns) {
  writeBytes("a/events.out.tfevents.1", smallFile());
  writeBytes("b/events.out.tfevents.7", smallFile());
  EXPECT_THAT(steptape("diff a b"), Prints("no difference in 2 tags\n"));
  EXPECT_TRUE(diffAsJson()["same"]);
}

TEST_F(Diff, ShowsTheStepsAtWhichScalarsDiffer) {
  writeRun("a", {simpleScalar("loss", 1, 0), simpleScalar("loss", 0.5F, 1),
                 simpleScalar("loss", 0.25F, 2), simpleScalar("lr", 1, 0)});
  writeRun("b", {simpleScalar("loss", 1, 0), simpleScalar("loss", 0.75F, 1),
                 simpleScalar("loss", 0.5F, 2), simpleScalar("lr", 1, 0)});
  const Outcome outcome = steptape("diff a b");
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_EQ(outcome.out,
            "- a\n"
            "+ b\n"
            "2 tags in both, 1 of them differ\n"
            "\n"
            "  scalar  points  first step  - there  + there  - last  + last  change\n"
            "  loss         3           1      0.5     0.75    0.25     0.5   +0.25\n");
}

TEST_F(Diff, NamesTagsOfOneRunOnly) {
  writeRun("a", {simpleScalar("loss", 1, 0), simpleScalar("x", 1, 0)});
  writeRun("b", {simpleScalar("loss", 1, 0), simpleScalar("y", 1, 0)});
  const Outcome outcome = steptape("diff a b");
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_THAT(outcome.out, HasSubstr("  only in a: x\n  only in b: y\n"));
  EXPECT_EQ(diffAsJson()["only_in_first"], json({"x"}));
  EXPECT_EQ(diffAsJson()["only_in_second"], json({"y"}));
  EXPECT_EQ(steptape("diff a b --tag loss").exitCode, 0);
}

TEST_F(Diff, FindsAPointThatOneRunLacks) {
  writeRun("a",
           {simpleScalar("loss", 1, 0), simpleScalar("loss", 2, 1), simpleScalar("loss", 3, 2)});
  writeRun("b", {simpleScalar("loss", 1, 0), simpleScalar("loss", 3, 2)});
  const json tag = diffAsJson()["differing_tags"][0];
  EXPECT_EQ(tag["points"], json({3, 2}));
  EXPECT_EQ(tag["first_step"], 1);
  EXPECT_EQ(tag["differing_points"], 1);
  EXPECT_EQ(tag["values_there"], json({2, nullptr}));
  EXPECT_EQ(tag["last_values"], json({3, 3}));
  EXPECT_THAT(steptape("diff a b").out,
              HasSubstr("  loss     3 / 2           1        2        -"));
}

TEST_F(Diff, AppliesTheTolerance) {
  writeRun("a", {simpleScalar("loss", 1000, 0)});
  writeRun("b", {simpleScalar("loss", 1001, 0)});
  EXPECT_EQ(steptape("diff a b").exitCode, 1);
  EXPECT_EQ(steptape("diff a b --tolerance 1e-4").exitCode, 1);
  EXPECT_EQ(steptape("diff a b --tolerance 1e-2").exitCode, 0);
}

TEST_F(Diff, TreatsNanAsEqualToNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  writeRun("a", {simpleScalar("loss", nan, 0)});
  writeRun("b", {simpleScalar("loss", nan, 0)});
  EXPECT_EQ(steptape("diff a b").exitCode, 0);
  writeRun("b", {simpleScalar("loss", 1, 0)});
  EXPECT_EQ(steptape("diff a b --tolerance 1").exitCode, 1);
}

TEST_F(Diff, ComparesOtherPluginsByTheirData) {
  writeRun("a", {textValue("one", 0), textValue("two", 1)});
  writeRun("b", {textValue("one", 0), textValue("three", 1)});
  EXPECT_THAT(steptape("diff a b").out, HasSubstr("  other tag  points  first step\n"
                                                  "  note            2           1\n"));
  writeRun("b", {textValue("one", 0), textValue("two", 1)});
  EXPECT_EQ(steptape("diff a b").exitCode, 0);
}

TEST_F(Diff, ComparesMetadata) {
  const auto described = [](const char* description) {
    event::Value value =
        ofScalarsPlugin(tensorValue<float>("loss", event::TensorType::kFloat, {1}));
    value.metadata->description = description;
    return eventAt(0, event::Summary{{value}});
  };
  writeRun("a", {described("mean")});
  writeRun("b", {described("sum")});
  const Outcome outcome = steptape("diff a b");
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_THAT(outcome.out, HasSubstr("  loss: description: 'mean', 'sum'\n"));
  EXPECT_EQ(diffAsJson()["differing_tags"][0]["first_step"], nullptr);
}

TEST_F(Diff, DoesNotCompareValuesOfDifferentPlugins) {
  writeRun("a", {textValue("one", 0)});
  writeRun("b", {simpleScalar("note", 1, 0)});
  const Outcome outcome = steptape("diff a b");
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_THAT(outcome.out, HasSubstr("  note: plugin: 'text', 'scalars'\n"));
}

TEST_F(Diff, ExpectsOneRunOnEachSide) {
  writeBytes("runs/a/events.out.tfevents.1", smallFile());
  writeBytes("runs/b/events.out.tfevents.1", smallFile());
  EXPECT_THAT(
      steptape("diff runs runs/a"),
      Exits(2,
            StartsWith("FIRST: got runs, which holds 2 runs; expected one run, such as runs/a\n")));
  EXPECT_EQ(steptape("diff runs/a").exitCode, 2);
}

TEST_F(Diff, PrefersTheRunOfADirectoryToItsSubRuns) {
  writeBytes("a/events.out.tfevents.1", smallFile());
  writeBytes("a/sub/events.out.tfevents.1", framed({}));
  EXPECT_EQ(steptape("diff a a/events.out.tfevents.1").exitCode, 0);
}

TEST_F(Diff, ComparesEachKindOfValueUnderOneTag) {
  const auto both = [](float number, double count, std::int64_t step) {
    return eventAt(step, event::Summary{{{"layer", number, std::nullopt},
                                         {"layer", histogramOf(count), std::nullopt}}});
  };
  writeRun("a", {both(0.5F, 3, 0), both(0.5F, 3, 1)});
  writeRun("b", {both(0.5F, 3, 0), both(0.75F, 4, 1)});
  const Outcome outcome = steptape("diff a b");
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_THAT(outcome.out, HasSubstr("1 tag in both, 1 of them differ\n"));
  EXPECT_THAT(
      outcome.out,
      HasSubstr("  layer        2           1      0.5     0.75     0.5    0.75   +0.25\n"));
  EXPECT_THAT(outcome.out,
              HasSubstr("  other tag  points  first step\n  layer           2           1\n"));
  EXPECT_EQ(steptape("diff a a").exitCode, 0);
}

TEST_F(Diff, NamesAKindThatOnlyOneRunHasUnderATag) {
  writeRun("a", {simpleScalar("layer", 1, 0)});
  writeRun("b", {simpleScalar("layer", 1, 0),
                 eventAt(1, event::Summary{{{"layer", histogramOf(1), std::nullopt}}})});
  const json diff = diffAsJson();
  EXPECT_EQ(diff["only_in_second"], json({"layer (histograms)"}));
  EXPECT_EQ(diff["differing_tags"], json::array());
}

TEST_F(Diff, ShowsTheLinesInWhichTextsDiffer) {
  writeRun("a", {textValue("batch: 32\nlr: 0.1\nlayers: 3\nseed: 1", 0)});
  writeRun("b", {textValue("batch: 32\nlr: 0.01\nlayers: 3\nseed: 1\namp: true", 0)});
  const Outcome outcome = steptape("diff a b");
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_THAT(outcome.out, EndsWith("\n\n  note at step 0:\n"
                                    "  - lr: 0.1\n"
                                    "  + lr: 0.01\n"
                                    "  + amp: true\n"));
  EXPECT_THAT(steptape("diff a b --json").out,
              HasSubstr(R"("text_lines": ["- lr: 0.1", "+ lr: 0.01", "+ amp: true"])"));
}

TEST(LineDiff, IsEmptyForEqualTexts) {
  EXPECT_THAT(tools::lineDiff("a\nb", "a\nb"), ::testing::IsEmpty());
  EXPECT_THAT(tools::lineDiff("", ""), ::testing::IsEmpty());
}

TEST(LineDiff, KeepsTheLongestCommonLines) {
  EXPECT_THAT(tools::lineDiff("a\nb\nc\nd", "a\nc\nx\nd"), ::testing::ElementsAre("- b", "+ x"));
  EXPECT_THAT(tools::lineDiff("", "a"), ::testing::ElementsAre("+ a"));
  EXPECT_THAT(tools::lineDiff("a\na", "a"), ::testing::ElementsAre("- a"));
}

}  // namespace
}  // namespace steptape
