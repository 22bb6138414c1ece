// SPDX-License-Identifier: Apache-2.0
#include "train/loop/run_charts.h"

#include <string>
#include <string_view>
#include <utility>

#include "base/utf8.h"

namespace steptape::detail::train {
namespace {

/// Returns a regular expression that matches only `tag`.
std::string exactly(std::string_view tag) {
  constexpr std::string_view kSpecial = R"(\^$.|?*+()[]{})";
  std::string pattern;
  for (const char c : tag) {
    if (kSpecial.find(c) != std::string_view::npos) {
      pattern += '\\';
    }
    pattern += c;
  }
  return pattern + '$';
}

CustomScalarsChart curve(std::string title, std::string_view tag) {
  return CustomScalarsChart::multiline(std::move(title), {exactly(tag)});
}

CustomScalarsCategory learningCharts(const TrainerOptions& options, bool hasBand) {
  CustomScalarsCategory category{"learning", {}};
  category.charts.push_back(CustomScalarsChart::multiline(
      "loss, train and test", {exactly("loss/train"), exactly("loss/test")}));
  for (const EvaluationMetric& metric : options.metrics) {
    // As the writer stores the tag: TensorBoard rejects a layout that is not UTF-8.
    const std::string name = base::replaceInvalidUtf8(metric.name);
    category.charts.push_back(curve(name + ", test", name + "/test"));
  }
  if (hasBand) {
    category.charts.push_back(
        CustomScalarsChart::margin("loss, train: mean within the range of the ranks",
                                   {"loss/train", "loss/train/min", "loss/train/max"}));
  }
  return category;
}

CustomScalarsCategory speedCharts(const TrainerOptions& options) {
  CustomScalarsCategory category{
      "speed",
      {options.tokensPerSample > 0 ? curve("tokens per second", "tokens_per_second")
                                   : curve("samples per second", "samples_per_second"),
       curve("TFLOP/s of all ranks", "teraflops_per_second")}};
  if (options.stragglerSteps > 0) {
    category.charts.push_back(
        curve("slowdown: work of the slowest rank / median", "straggler/slowdown"));
  }
  return category;
}

CustomScalarsCategory optimizerCharts(const TrainerOptions& options) {
  CustomScalarsCategory category{"optimizer", {curve("learning rate", "optimizer/learning_rate")}};
  if (options.gradientSync.maxNorm > 0 || options.parameterNormSteps > 0) {
    category.charts.push_back(curve("norm of the gradients", "optimizer/gradient_norm"));
  }
  if (options.parameterNormSteps > 0) {
    category.charts.push_back(CustomScalarsChart::multiline("norm of each parameter's gradient",
                                                            {"^parameter_gradient_norms/"}));
    category.charts.push_back(
        CustomScalarsChart::multiline("norm of each parameter", {"^parameter_norms/"}));
  }
  if (options.precision == Precision::kFloat16) {
    category.charts.push_back(curve("scale of the loss", "optimizer/loss_scale"));
  }
  category.closed = true;
  return category;
}

}  // namespace

CustomScalarsLayout runCharts(const TrainerOptions& options, bool hasBand) {
  return {{learningCharts(options, hasBand), speedCharts(options), optimizerCharts(options)}};
}

}  // namespace steptape::detail::train
