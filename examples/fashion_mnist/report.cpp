// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <array>
#include <ctime>

#include <steptape/base/json.h>

namespace {

std::string number(double value) {
  std::string text;
  steptape::appendJsonNumber(&text, value);
  return text;
}

std::string quoted(const std::string& value) {
  std::string text;
  steptape::appendJsonString(&text, value);
  return text;
}

}  // namespace

std::string defaultLogDir() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  std::array<char, 64> buffer{};
  std::strftime(buffer.data(), buffer.size(), "runs/fashion_mnist_%Y-%m-%d_%H-%M-%S", &local);
  return buffer.data();
}

void appendOptions(const Options& options, steptape::DescriptionRows& rows) {
  rows.emplace_back("data", options.data);
  rows.emplace_back("epochs", std::to_string(options.epochs));
  rows.emplace_back("batch size per rank", std::to_string(options.batchSize));
  rows.emplace_back("learning rate for one rank", number(options.lr));
  rows.emplace_back("momentum", number(options.momentum));
  rows.emplace_back("seed", std::to_string(options.seed));
}

std::string resultJson(const steptape::TrainingResult& result, int ranks,
                       const std::string& logDir) {
  return "{\"ranks\":" + std::to_string(ranks) + ",\"epochs\":" + std::to_string(result.epochs) +
         ",\"seconds_per_epoch\":" + number(result.secondsPerEpoch) +
         ",\"samples_per_second\":" + number(result.samplesPerSecond) +
         ",\"test_loss\":" + number(result.testLoss) +
         ",\"test_accuracy\":" + number(result.testAccuracy) +
         ",\"logging_seconds\":" + number(result.loggingSeconds) +
         ",\"log_dir\":" + quoted(logDir) + "}";
}
