// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "steptape/events/plugin_content.h"

#include <gtest/gtest.h>

namespace steptape {
namespace {

std::string toHex(const std::string& bytes) {
  std::string hex;
  for (const unsigned char byte : bytes) {
    hex += "0123456789abcdef"[byte >> 4];
    hex += "0123456789abcdef"[byte & 15];
  }
  return hex;
}

HparamsSessionStart someStart() {
  return {{{"amp", true}, {"lr", 0.1}, {"opt", "sgd"}}, "trial", 1700000000.5};
}

HparamsExperiment someExperiment() {
  HparamsExperiment experiment;
  experiment.description = "study";
  experiment.hparams.push_back({"opt", "Optimizer", "d", {"sgd", "adam"}});
  experiment.hparams.push_back({"lr"});
  experiment.hparams.back().interval = {0.01, 1.0};
  experiment.hparams.push_back({"amp", "", "", {true}});
  experiment.metrics.push_back({"loss", "Loss", "ce"});
  return experiment;
}

// The three golden values are the deterministic serialization of the same content by
// tensorboard.plugins.hparams.plugin_data_pb2 of tensorboard 2.21.0.

TEST(HparamsContent, EncodesASessionStartAsTensorBoardDoes) {
  EXPECT_EQ(
      toHex(encodeHparamsContent(someStart())),
      "1a3a0a090a03616d70120220010a0f0a026c721209119a9999999999b93f0a0c0a036f707412051a0373676422"
      "05747269616c2900002040fc54d941");
}

TEST(HparamsContent, EncodesASessionEndAsTensorBoardDoes) {
  EXPECT_EQ(toHex(encodeHparamsContent(HparamsSessionEnd{SessionStatus::kFailure, 1700000001.5})),
            "220b08021100006040fc54d941");
}

TEST(HparamsContent, EncodesAnExperimentAsTensorBoardDoes) {
  EXPECT_EQ(
      toHex(encodeHparamsContent(someExperiment())),
      "12720a05737475647922280a036f707412094f7074696d697a65721a016420012a0f0a051a037367640a061a04"
      "6164616d3801221c0a026c7220033212097b14ae47e17a843f11000000000000f03f3801220d0a03616d702002"
      "2a040a0220012a120a0612046c6f73731a044c6f737322026365");
}

TEST(HparamsContent, DecodesASessionStart) {
  HparamsContent content;
  ASSERT_TRUE(decodeHparamsContent(encodeHparamsContent(someStart()), &content).ok());
  const auto& start = std::get<HparamsSessionStart>(content);
  ASSERT_EQ(start.hparams.size(), 3U);
  EXPECT_EQ(start.hparams[0].first, "amp");
  EXPECT_EQ(std::get<bool>(start.hparams[0].second.value()), true);
  EXPECT_EQ(std::get<double>(start.hparams[1].second.value()), 0.1);
  EXPECT_EQ(std::get<std::string>(start.hparams[2].second.value()), "sgd");
  EXPECT_EQ(start.groupName, "trial");
  EXPECT_EQ(start.startTime, 1700000000.5);
}

TEST(HparamsContent, DecodesASessionEnd) {
  HparamsContent content;
  const HparamsSessionEnd failed{SessionStatus::kFailure, 2.5};
  ASSERT_TRUE(decodeHparamsContent(encodeHparamsContent(failed), &content).ok());
  EXPECT_EQ(std::get<HparamsSessionEnd>(content).status, SessionStatus::kFailure);
  EXPECT_EQ(std::get<HparamsSessionEnd>(content).endTime, 2.5);
}

TEST(HparamsContent, DecodesAnExperiment) {
  HparamsContent content;
  ASSERT_TRUE(decodeHparamsContent(encodeHparamsContent(someExperiment()), &content).ok());
  const auto& experiment = std::get<HparamsExperiment>(content);
  EXPECT_EQ(experiment.description, "study");
  ASSERT_EQ(experiment.hparams.size(), 3U);
  EXPECT_EQ(experiment.hparams[0].displayName, "Optimizer");
  EXPECT_EQ(std::get<std::string>(experiment.hparams[0].discrete.at(1).value()), "adam");
  EXPECT_EQ(experiment.hparams[1].interval, std::make_pair(0.01, 1.0));
  EXPECT_FALSE(experiment.hparams[2].interval.has_value());
  ASSERT_EQ(experiment.metrics.size(), 1U);
  EXPECT_EQ(experiment.metrics[0].tag, "loss");
  EXPECT_EQ(experiment.metrics[0].description, "ce");
}

TEST(HparamsContent, RejectsOtherBytes) {
  HparamsContent content;
  EXPECT_EQ(decodeHparamsContent("\x12\x7F", &content).message(),
            "hparams record: got 2 other bytes; expected an HParamsPluginData message");
  EXPECT_EQ(decodeHparamsContent("", &content).message(),
            "hparams record: got neither an experiment nor a session; expected one of them");
  EXPECT_EQ(decodeHparamsContent("\x08\x01", &content).message(),
            "hparams record: got version 1; expected 0");
}

}  // namespace
}  // namespace steptape
