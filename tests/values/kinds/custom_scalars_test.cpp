// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/plot/custom_scalars.h"

#include "support/expect_error.h"

namespace steptape {
namespace {

using test::expectInvalidArgument;

CustomScalarsLayout layoutOf(std::vector<CustomScalarsCategory> categories) {
  return {std::move(categories)};
}

CustomScalarsChart lines(const std::string& title, const std::string& tag) {
  return CustomScalarsChart::multiline(title, {tag});
}

/// Returns "category: chart(tag) chart(tag); category: ..."
std::string summaryOf(const CustomScalarsLayout& layout) {
  std::string text;
  for (const CustomScalarsCategory& category : layout.categories) {
    text += (text.empty() ? "" : "; ") + category.title + ":";
    for (const CustomScalarsChart& chart : category.charts) {
      text += " " + chart.title + "(" + (chart.tags.empty() ? chart.margins[0][0] : chart.tags[0]) +
              ")";
    }
  }
  return text;
}

TEST(MergeLayout, ContinuesACategoryOfEqualTitle) {
  CustomScalarsLayout layout = layoutOf({{"loss", {lines("train", "a")}}});
  detail::values::mergeLayout(
      layoutOf({{"loss", {lines("test", "b")}}, {"speed", {lines("steps", "c")}}}), &layout);
  EXPECT_EQ(summaryOf(layout), "loss: train(a) test(b); speed: steps(c)");
}

TEST(MergeLayout, ReplacesAChartOfEqualTitleInItsPlace) {
  CustomScalarsLayout layout = layoutOf(
      {{"loss", {lines("train", "a"), lines("test", "b")}}, {"speed", {lines("train", "c")}}});
  detail::values::mergeLayout(
      layoutOf({{"loss", {CustomScalarsChart::margin("train", {"v", "l", "u"})}}}), &layout);
  EXPECT_EQ(summaryOf(layout), "loss: train(v) test(b); speed: train(c)");
  EXPECT_TRUE(layout.categories[0].charts[0].tags.empty());
}

TEST(MergeLayout, MergesWhatOccursTwiceInOneCall) {
  CustomScalarsLayout layout;
  detail::values::mergeLayout(layoutOf({{"loss", {lines("train", "a")}},
                                        {"speed", {lines("steps", "b")}},
                                        {"loss", {lines("train", "c"), lines("test", "d")}}}),
                              &layout);
  EXPECT_EQ(summaryOf(layout), "loss: train(c) test(d); speed: steps(b)");
}

TEST(ValidateLayout, RejectsALayoutWithoutCategories) {
  expectInvalidArgument([] { detail::values::checkLayout({}); },
                        "got a layout without categories; expected at least one");
}

TEST(MergeLayout, KeepsAnExistingCategoryClosed) {
  CustomScalarsLayout layout;
  detail::values::mergeLayout(layoutOf({{"loss", {lines("train", "a")}, true}}), &layout);
  detail::values::mergeLayout(
      layoutOf({{"loss", {lines("test", "b")}}, {"speed", {lines("steps", "c")}}}), &layout);
  ASSERT_EQ(layout.categories.size(), 2U);
  EXPECT_TRUE(layout.categories[0].closed);
  EXPECT_FALSE(layout.categories[1].closed);
  EXPECT_EQ(layout.categories[0].charts.size(), 2U);
}

TEST(ValidateLayout, NamesTheCategoryWithoutACharts) {
  expectInvalidArgument(
      [] {
        detail::values::checkLayout(layoutOf({{"loss", {}}}));
      },
      "got category \"loss\" without charts; expected at least one");
}

TEST(ValidateLayout, NamesTheChartWithoutTags) {
  expectInvalidArgument(
      [] {
        detail::values::checkLayout(
            layoutOf({{"loss", {CustomScalarsChart::multiline("train", {})}}}));
      },
      "got neither tags nor margins in chart \"train\"; expected one of them");
}

TEST(ValidateLayout, NamesTheChartThatIsOfTwoKinds) {
  CustomScalarsChart chart = lines("train", "a");
  chart.margins.push_back({"v", "l", "u"});
  expectInvalidArgument(
      [&] {
        detail::values::checkLayout(layoutOf({{"loss", {chart}}}));
      },
      "got both tags and margins in chart \"train\"; expected one of them");
}

TEST(ValidateLayout, NamesTheChartWithAnEmptyTag) {
  expectInvalidArgument(
      [] {
        detail::values::checkLayout(
            layoutOf({{"loss", {CustomScalarsChart::multiline("train", {"a", ""})}}}));
      },
      "got an empty tag in chart \"train\"; expected a tag");
  expectInvalidArgument(
      [] {
        detail::values::checkLayout(
            layoutOf({{"loss", {CustomScalarsChart::margin("band", {"value", "", "upper"})}}}));
      },
      "got an empty tag in chart \"band\"; expected a tag");
}

TEST(ValidateLayout, RejectsTextsForWhichTensorBoardWouldRefuseTheLayout) {
  expectInvalidArgument(
      [] {
        detail::values::checkLayout(layoutOf({{"\xff", {lines("train", "a")}}}));
      },
      "got category \"\xEF\xBF\xBD\" with invalid UTF-8; expected UTF-8");
  expectInvalidArgument(
      [] {
        detail::values::checkLayout(layoutOf({{"loss", {lines("\xff", "a")}}}));
      },
      "got chart \"\xEF\xBF\xBD\" with invalid UTF-8; expected UTF-8");
  expectInvalidArgument(
      [] {
        detail::values::checkLayout(layoutOf({{"loss", {lines("train", "\xff")}}}));
      },
      "got tag \"\xEF\xBF\xBD\" with invalid UTF-8; expected UTF-8");
}

TEST(CustomScalarsValue, IsTheLayoutUnderTensorBoardsTag) {
  const event::Value value =
      detail::values::customScalarsValue(layoutOf({{"loss", {lines("train", "a")}}}));
  EXPECT_EQ(value.tag, "custom_scalars__config__");
  const auto& tensor = std::get<event::Tensor>(value.data);
  EXPECT_EQ(tensor.type, event::TensorType::kString);
  EXPECT_TRUE(tensor.shape.empty());
  ASSERT_EQ(tensor.strings.size(), 1U);
  CustomScalarsLayout layout;
  ASSERT_TRUE(decodeLayout(tensor.strings[0], &layout).ok());
  EXPECT_EQ(summaryOf(layout), "loss: train(a)");
  EXPECT_EQ(value.metadata->pluginName, "custom_scalars");
  EXPECT_EQ(value.metadata->pluginContent, "");
  EXPECT_EQ(value.metadata->dataClass, event::DataClass::kTensor);
}

}  // namespace
}  // namespace steptape
