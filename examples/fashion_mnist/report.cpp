// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <array>
#include <ctime>
#include <functional>
#include <string_view>

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

steptape::DescriptionRows describeOptions(const Options& options) {
  return {{"data", options.data},
          {"model", options.model},
          {"batch size per rank", std::to_string(options.batchSize)},
          {"learning rate for one rank", number(options.lr)},
          {"momentum", number(options.momentum)},
          {"seed", std::to_string(options.seed)}};
}

std::string parametersChecksum(const torch::nn::Module& module) {
  std::size_t hash = 0;
  for (const torch::Tensor& parameter : module.parameters()) {
    const torch::Tensor dense = parameter.detach().cpu().contiguous();
    const std::string_view bytes(static_cast<const char*>(dense.data_ptr()), dense.nbytes());
    hash = 31 * hash + std::hash<std::string_view>{}(bytes);
  }
  return std::to_string(hash);
}

std::string resultJson(const steptape::TrainingResult& result, int ranks, const std::string& logDir,
                       const std::string& checksum) {
  std::string metrics;
  for (const steptape::MetricValue& metric : result.metrics) {
    metrics += "," + quoted("test_" + metric.name) + ":" + number(metric.value);
  }
  return "{\"ranks\":" + std::to_string(ranks) + ",\"epochs\":" + std::to_string(result.epochs) +
         ",\"step\":" + std::to_string(result.step) +
         ",\"seconds_per_epoch\":" + number(result.secondsPerEpoch) +
         ",\"samples_per_second\":" + number(result.samplesPerSecond) + metrics +
         ",\"logging_seconds\":" + number(result.loggingSeconds) +
         ",\"stopped_by\":" + quoted(steptape::stopReasonText(result.stoppedBy)) +
         ",\"parameters\":" + quoted(checksum) + ",\"log_dir\":" + quoted(logDir) + "}";
}
