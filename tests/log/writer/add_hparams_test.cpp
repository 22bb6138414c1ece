// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "steptape/log/summary_writer.h"

#include "log/writer/run_contents.h"
#include "log/writer/writer_fixture.h"
#include "values/kinds/hparams.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsNan;
using ::testing::Pair;
using ::testing::SizeIs;

class AddHparamsTest : public WriterFixture {
 protected:
  /// Returns the run's records for the hparams page, by tag.
  std::map<std::string, HparamsContent> records() const {
    std::map<std::string, HparamsContent> records;
    for (const event::Value& value : valuesIn(dir_.string())) {
      if (value.metadata && value.metadata->pluginName == "hparams") {
        const Status status =
            decodeHparamsContent(value.metadata->pluginContent, &records[value.tag]);
        EXPECT_TRUE(status.ok()) << status.message();
      }
    }
    return records;
  }
  SessionStatus endStatus() const {
    return std::get<HparamsSessionEnd>(records().at("_hparams_/session_end_info")).status;
  }
};

TEST_F(AddHparamsTest, DescribesTheRunItselfAndNoExperiment) {
  {
    SummaryWriter writer = open();
    HparamsOptions options;
    options.groupName = "trial 1";
    writer.addHparams({{"lr", 0.1}, {"opt", "sgd"}, {"amp", true}}, {{"accuracy", 0.91}}, options);
  }
  const auto written = records();
  ASSERT_THAT(written, SizeIs(2));
  const auto& start = std::get<HparamsSessionStart>(written.at("_hparams_/session_start_info"));
  EXPECT_EQ(start.groupName, "trial 1");
  std::map<std::string, std::variant<bool, double, std::string>> hparams;
  for (const auto& [name, value] : start.hparams) {
    hparams[name] = value.value();
  }
  EXPECT_EQ(std::get<double>(hparams.at("lr")), 0.1);
  EXPECT_EQ(std::get<std::string>(hparams.at("opt")), "sgd");
  EXPECT_EQ(std::get<bool>(hparams.at("amp")), true);
  EXPECT_EQ(endStatus(), SessionStatus::kSuccess);
  EXPECT_THAT(scalarsIn(dir_.string()).at("accuracy"), ElementsAre(Pair(0, 0.91F)));
  EXPECT_THAT(reports(), IsEmpty());
  for (const auto& entry : std::filesystem::directory_iterator(dir_.string())) {
    EXPECT_FALSE(entry.is_directory()) << "a sub-run would be a row of its own: " << entry.path();
  }
}

TEST_F(AddHparamsTest, AMetricEndsTheCurveThatItsTagHas) {
  SummaryWriter writer = open();
  for (std::int64_t step = 0; step < 5; ++step) {
    writer.addScalar("accuracy", 0.1, step);
  }
  writer.addHparams({{"lr", 0.1}}, {{"accuracy", 0.9}});
  EXPECT_TRUE(writer.flush().ok());
  const auto curve = scalarsIn(dir_.string()).at("accuracy");
  ASSERT_THAT(curve, SizeIs(6));
  EXPECT_THAT(curve.back(), Pair(4, 0.9F));
}

TEST_F(AddHparamsTest, AMetricThatItsCurveEndsWithAlreadyIsNotWrittenTwice) {
  SummaryWriter writer = open();
  writer.addScalar("accuracy", 0.9, 0);
  writer.addScalar("accuracy", 0.1, 4);
  writer.addScalar("loss", std::nan(""), 4);
  writer.addHparams({{"lr", 0.1}}, {{"accuracy", 0.1}, {"loss", std::nan("")}});
  EXPECT_TRUE(writer.flush().ok());
  const auto curves = scalarsIn(dir_.string());
  EXPECT_THAT(curves.at("accuracy"), ElementsAre(Pair(0, 0.9F), Pair(4, 0.1F)));
  EXPECT_THAT(curves.at("loss"), ElementsAre(Pair(4, IsNan())));
}

TEST_F(AddHparamsTest, WritesAnExperimentIfOneIsGiven) {
  HparamsOptions options;
  HparamsExperiment experiment;
  experiment.hparams.push_back({"lr"});
  experiment.hparams.back().interval = std::make_pair(1e-4, 1.0);
  experiment.metrics.push_back({"accuracy", "Accuracy"});
  options.experiment = experiment;
  SummaryWriter writer = open();
  writer.addHparams({{"lr", 0.1}}, {{"accuracy", 0.9}}, options);
  EXPECT_TRUE(writer.flush().ok());
  const auto written = records();
  const auto& read = std::get<HparamsExperiment>(written.at("_hparams_/experiment"));
  ASSERT_THAT(read.hparams, SizeIs(1));
  EXPECT_EQ(read.hparams[0].interval->second, 1.0);
  ASSERT_THAT(read.metrics, SizeIs(1));
  EXPECT_EQ(read.metrics[0].displayName, "Accuracy");
}

TEST_F(AddHparamsTest, APromisedMetricThatNeverCameIsNamed) {
  HparamsOptions options;
  options.experiment.emplace();
  options.experiment->metrics = {{"logged"}, {"forgotten"}};
  SummaryWriter writer = open();
  writer.addHparams({{"lr", 0.1}}, {}, options);
  writer.addScalar("logged", 1, 0);
  EXPECT_TRUE(writer.close().ok());
  EXPECT_THAT(reports(), ElementsAre(AllOf(HasSubstr("\"forgotten\""), HasSubstr("never logged"))));
}

TEST_F(AddHparamsTest, ReportsASecondCall) {
  SummaryWriter writer = open();
  writer.addHparams({{"lr", 0.1}});
  writer.addHparams({{"lr", 0.2}}, {{"accuracy", 0.5}});
  EXPECT_TRUE(writer.flush().ok());
  EXPECT_THAT(reports(), ElementsAre(HasSubstr("first hyperparameters")));
  EXPECT_THAT(scalarsIn(dir_.string()).at("accuracy"), SizeIs(1));
}

TEST_F(AddHparamsTest, ARunThatAnExceptionEndsHasFailed) {
  try {
    SummaryWriter writer = open();
    writer.addHparams({{"lr", 0.1}});
    throw std::runtime_error("the training broke");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(endStatus(), SessionStatus::kFailure);
}

TEST_F(AddHparamsTest, ARunWithinTheHandlingOfAnExceptionCanStillSucceed) {
  try {
    throw std::runtime_error("handled");
  } catch (const std::runtime_error&) {
    SummaryWriter writer = open();
    writer.addHparams({{"lr", 0.1}});
  }
  EXPECT_EQ(endStatus(), SessionStatus::kSuccess);
}

TEST_F(AddHparamsTest, ThrowsForInvalidArgumentsAndWritesNothing) {
  SummaryWriter writer = open();
  EXPECT_THROW(writer.addHparams({}), Error);
  EXPECT_THROW(writer.addHparams({{"lr", 0.1}, {"lr", 0.2}}), Error);
  EXPECT_TRUE(writer.close().ok());
  EXPECT_THAT(valuesIn(dir_.string()), IsEmpty());
}

}  // namespace
}  // namespace steptape
