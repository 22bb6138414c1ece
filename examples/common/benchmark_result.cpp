// SPDX-License-Identifier: Apache-2.0
#include "benchmark_result.h"

#include <cmath>
#include <iomanip>
#include <sstream>

#include <steptape/base/json.h>

namespace example {
namespace {

std::string partName(std::size_t part) {
  return stepPartName(static_cast<steptape::StepPart>(part));
}

std::string rateText(const MeanAndStd& rate) {
  return std::to_string(rate.mean) + " +- " + std::to_string(rate.std) + "\n";
}

std::string detailsText(const StepDetails& details) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(2) << "time of a step:";
  for (std::size_t part = 0; part < details.parts.size(); ++part) {
    text << "  " << partName(part) << " " << details.parts[part] << " ms";
  }
  text << "\n\noperators of rank 0 in " << details.steps << " steps:\n\n" << details.operatorTable;
  return text.str();
}

}  // namespace

MeanAndStd meanAndStd(const std::vector<double>& values) {
  MeanAndStd result;
  const auto count = static_cast<double>(values.size());
  for (const double value : values) {
    result.mean += value / count;
  }
  for (const double value : values) {
    result.std += (value - result.mean) * (value - result.mean) / count;
  }
  result.std = std::sqrt(result.std);
  return result;
}

std::string jsonLine(const BenchmarkResult& result) {
  std::string json = "{\"model\":\"" + result.model +
                     "\",\"ranks\":" + std::to_string(result.ranks) +
                     ",\"parameters\":" + std::to_string(result.parameters);
  const auto append = [&json](const std::string& name, double value) {
    json += ",\"" + name + "\":";
    steptape::appendJsonNumber(&json, value);
  };
  const std::string rate = result.samples + "_per_second";
  append(rate + "_per_rank", result.perRank.mean);
  append(rate + "_per_rank_std", result.perRank.std);
  append(rate, result.total.mean);
  append(rate + "_std", result.total.std);
  if (result.details) {
    for (std::size_t part = 0; part < result.details->parts.size(); ++part) {
      append(partName(part) + "_ms", result.details->parts[part]);
    }
  }
  return json + "}\n";
}

std::string plainText(const BenchmarkResult& result) {
  return result.samples + " per second on each rank:  " + rateText(result.perRank) +
         "on all ranks:  " + rateText(result.total) +
         (result.details ? detailsText(*result.details) : "");
}

}  // namespace example
