// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/hparams.h"

#include <limits>
#include <string>

#include "support/expect_error.h"
#include "values/kinds/special_values.h"

#include <gtest/gtest.h>

namespace steptape {
namespace {

using test::expectInvalidArgument;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

HparamsOptions withExperiment(HparamInfo info) {
  HparamsOptions options;
  options.experiment.emplace().hparams.push_back(std::move(info));
  return options;
}

HparamInfo discrete(std::string name, std::vector<HparamValue> values) {
  return {std::move(name), "", "", std::move(values)};
}

HparamInfo interval(std::string name, double least, double largest) {
  HparamInfo info{std::move(name)};
  info.interval = {least, largest};
  return info;
}

template <typename Content>
Content contentOf(const event::Value& value) {
  HparamsContent content;
  const Status status = decodeHparamsContent(value.metadata->pluginContent, &content);
  EXPECT_TRUE(status.ok()) << status.message();
  return std::get<Content>(content);
}

void expectMetadataOnly(const event::Value& value, const std::string& tag) {
  EXPECT_EQ(value.tag, tag);
  ASSERT_TRUE(value.metadata.has_value());
  EXPECT_EQ(value.metadata->pluginName, "hparams");
  EXPECT_EQ(value.metadata->dataClass, event::DataClass::kTensor);
  const auto& tensor = std::get<event::Tensor>(value.data);
  EXPECT_EQ(tensor.type, event::TensorType::kFloat);
  EXPECT_EQ(tensor.shape, std::vector<std::int64_t>{0});
  EXPECT_EQ(tensor.content, "");
}

TEST(HparamValue, KeepsTheTypeOfItsArgument) {
  EXPECT_EQ(std::get<bool>(HparamValue(true).value()), true);
  EXPECT_EQ(std::get<double>(HparamValue(3).value()), 3.0);
  EXPECT_EQ(std::get<double>(HparamValue(0.5F).value()), 0.5);
  EXPECT_EQ(std::get<std::string>(HparamValue("sgd").value()), "sgd");
}

TEST(HparamsValues, AreMetadataOnlyUnderTheTagsOfThePlugin) {
  expectMetadataOnly(detail::values::sessionStartValue({{"lr", 0.1}}, "", 1),
                     "_hparams_/session_start_info");
  expectMetadataOnly(detail::values::sessionEndValue(SessionStatus::kSuccess, 2),
                     "_hparams_/session_end_info");
  expectMetadataOnly(detail::values::hparamsExperimentValue({}), "_hparams_/experiment");
}

TEST(HparamsValues, HoldWhatTheyWereMadeOf) {
  const auto start = contentOf<HparamsSessionStart>(
      detail::values::sessionStartValue({{"lr", 0.1}, {"amp", false}}, "g", 1.5));
  ASSERT_EQ(start.hparams.size(), 2U);
  EXPECT_EQ(start.hparams[1].first, "amp");
  EXPECT_EQ(std::get<bool>(start.hparams[1].second.value()), false);
  EXPECT_EQ(start.groupName, "g");
  EXPECT_EQ(start.startTime, 1.5);

  const auto end =
      contentOf<HparamsSessionEnd>(detail::values::sessionEndValue(SessionStatus::kRunning, 2.5));
  EXPECT_EQ(end.status, SessionStatus::kRunning);
  EXPECT_EQ(end.endTime, 2.5);
}

TEST(HparamsValues, StoreNumbersThatTensorBoardLeavesOutAsTexts) {
  const auto start = contentOf<HparamsSessionStart>(
      detail::values::sessionStartValue({{"a", kNaN}, {"b", kInfinity}, {"c", -kInfinity}}, "", 0));
  EXPECT_EQ(std::get<std::string>(start.hparams.at(0).second.value()), "NaN");
  EXPECT_EQ(std::get<std::string>(start.hparams.at(1).second.value()), "Infinity");
  EXPECT_EQ(std::get<std::string>(start.hparams.at(2).second.value()), "-Infinity");
}

TEST(HparamsValues, RepairTextsThatAreNotUtf8) {
  const auto start = contentOf<HparamsSessionStart>(
      detail::values::sessionStartValue({{"n\xFF", "v\xFF"}}, "g\xFF", 0));
  EXPECT_EQ(start.hparams.at(0).first, "n\uFFFD");
  EXPECT_EQ(std::get<std::string>(start.hparams.at(0).second.value()), "v\uFFFD");
  EXPECT_EQ(start.groupName, "g\uFFFD");

  HparamsExperiment broken;
  broken.description = "d\xFF";
  broken.hparams.push_back({"n\xFF", "N\xFF", "d\xFF", {"v\xFF"}});
  broken.metrics.push_back({"t\xFF", "T\xFF", "d\xFF"});
  const auto repaired =
      contentOf<HparamsExperiment>(detail::values::hparamsExperimentValue(broken));
  EXPECT_EQ(repaired.description, "d\uFFFD");
  EXPECT_EQ(repaired.hparams.at(0).name, "n\uFFFD");
  EXPECT_EQ(repaired.hparams.at(0).displayName, "N\uFFFD");
  EXPECT_EQ(repaired.hparams.at(0).description, "d\uFFFD");
  EXPECT_EQ(std::get<std::string>(repaired.hparams.at(0).discrete.at(0).value()), "v\uFFFD");
  EXPECT_EQ(repaired.metrics.at(0).tag, "t\uFFFD");
  EXPECT_EQ(repaired.metrics.at(0).displayName, "T\uFFFD");
  EXPECT_EQ(repaired.metrics.at(0).description, "d\uFFFD");
}

TEST(CheckHparams, AcceptsEveryTypeWithAndWithoutARecord) {
  const Hparams hparams{{"lr", 0.1}, {"opt", "sgd"}, {"amp", true}, {"clip", kInfinity}};
  EXPECT_NO_THROW(detail::values::checkHparams(hparams, {{"loss", 0.5}}, {}));
  HparamsOptions options = withExperiment(discrete("opt", {"sgd", "adam"}));
  options.experiment->hparams.push_back(interval("lr", 0.1, 0.1));
  options.experiment->hparams.push_back(discrete("amp", {true, false}));
  options.experiment->hparams.push_back({"not in this run"});
  options.experiment->metrics.push_back({"loss"});
  EXPECT_NO_THROW(detail::values::checkHparams(hparams, {}, options));
}

TEST(CheckHparams, RefusesMissingAndRepeatedNames) {
  expectInvalidArgument([] { detail::values::checkHparams({}, {}, {}); },
                        "got no hyperparameters; expected at least one");
  expectInvalidArgument(
      [] {
        detail::values::checkHparams({{"", 1}}, {}, {});
      },
      "got hyperparameter without a name; expected a name");
  expectInvalidArgument(
      [] {
        detail::values::checkHparams({{"lr", 1}, {"lr", 2}}, {}, {});
      },
      "got hyperparameter \"lr\" twice; expected distinct names");
  expectInvalidArgument(
      [] {
        detail::values::checkHparams({{"lr", 1}}, {{"", 1}}, {});
      },
      "got metric without a name; expected a name");
  expectInvalidArgument(
      [] {
        detail::values::checkHparams({{"lr", 1}}, {{"loss", 1}, {"loss", 2}}, {});
      },
      "got metric \"loss\" twice; expected distinct names");
}

TEST(CheckHparams, RefusesARecordWithMissingOrRepeatedNames) {
  expectInvalidArgument(
      [] {
        detail::values::checkHparams({{"lr", 1}}, {}, withExperiment({""}));
      },
      "got in the experiment record the hyperparameter without a name; expected a name");
  HparamsOptions options = withExperiment({"lr"});
  options.experiment->metrics = {{"loss"}, {"loss"}};
  expectInvalidArgument(
      [&] {
        detail::values::checkHparams({{"lr", 1}}, {}, options);
      },
      "got in the experiment record the metric \"loss\" twice; expected distinct names");
}

TEST(CheckHparams, RefusesDomainsThatAreNone) {
  const Hparams hparams{{"x", 1}};
  expectInvalidArgument(
      [&] {
        detail::values::checkHparams(hparams, {}, withExperiment(discrete("lr", {0.1, "high"})));
      },
      "got a number and a text among the discrete values of \"lr\"; expected values of one type");
  expectInvalidArgument(
      [&] { detail::values::checkHparams(hparams, {}, withExperiment(interval("lr", 1, 0.5))); },
      "got the interval 1 to 0.5 for \"lr\"; expected the least value first");
  expectInvalidArgument(
      [&] { detail::values::checkHparams(hparams, {}, withExperiment(interval("lr", 0, kNaN))); },
      "got the interval 0 to \"NaN\" for \"lr\"; expected the least value first");
  HparamInfo both = interval("lr", 0, 1);
  both.discrete = {1};
  expectInvalidArgument([&] { detail::values::checkHparams(hparams, {}, withExperiment(both)); },
                        "got discrete values and an interval for \"lr\"; expected one of them");
}

TEST(CheckHparams, RefusesAValueOutsideItsDomain) {
  expectInvalidArgument(
      [] {
        detail::values::checkHparams({{"lr", 2}}, {}, withExperiment(interval("lr", 0, 1)));
      },
      "got \"lr\" = 2; expected 0 to 1, as the experiment record says");
  expectInvalidArgument(
      [] {
        detail::values::checkHparams({{"lr", "high"}}, {}, withExperiment(interval("lr", 0, 1)));
      },
      "got \"lr\" = \"high\"; expected 0 to 1, as the experiment record says");
  expectInvalidArgument(
      [] {
        detail::values::checkHparams({{"amp", false}}, {}, withExperiment(discrete("amp", {true})));
      },
      "got \"amp\" = false; expected one of the 1 values in the experiment record");
}

}  // namespace
}  // namespace steptape
