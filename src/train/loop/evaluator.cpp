// SPDX-License-Identifier: Apache-2.0
#include "train/loop/evaluator.h"

#include <cmath>
#include <cstring>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "steptape/base/status.h"

#include "train/replicas/model/named_tensors.h"
#include "train/replicas/model/tensor_broadcast.h"

#include <torch/nn/module.h>

namespace steptape {

EvaluationMetric accuracyMetric() {
  EvaluationMetric metric;
  metric.name = "accuracy";
  metric.function = [](const at::Tensor& output, const at::Tensor& targets) {
    const auto correct = output.argmax(1).eq(targets).sum().item<std::int64_t>();
    return MetricSum{static_cast<double>(correct), static_cast<double>(targets.size(0))};
  };
  return metric;
}

EvaluationMetric meanAbsoluteErrorMetric() {
  EvaluationMetric metric;
  metric.name = "mean_absolute_error";
  metric.higherIsBetter = false;
  metric.function = [](const at::Tensor& output, const at::Tensor& targets) {
    if (output.sizes() != targets.sizes()) {
      std::ostringstream text;
      text << "mean_absolute_error: got an output of shape " << output.sizes()
           << " for targets of shape " << targets.sizes() << "; expected the same shape";
      throw Error(ErrorCode::kInvalidArgument, text.str());
    }
    const at::Tensor errors = (output - targets).abs();
    return MetricSum{errors.sum().item<double>(), static_cast<double>(errors.numel())};
  };
  return metric;
}

namespace detail::train {
namespace {

const std::string kLossName = "loss";

void checkMetrics(const std::vector<EvaluationMetric>& metrics) {
  std::set<std::string> names{kLossName};
  for (const EvaluationMetric& metric : metrics) {
    if (metric.name.empty() || !metric.function) {
      throw Error(ErrorCode::kInvalidArgument,
                  "Trainer: got an evaluation metric without " +
                      (metric.name.empty() ? std::string("a name") : "a function: " + metric.name));
    }
    if (!names.insert(metric.name).second) {
      throw Error(ErrorCode::kInvalidArgument, "Trainer: got two evaluation metrics named " +
                                                   metric.name + "; expected unique names");
    }
  }
}

/// Restores the module's training mode.
class EvaluationMode {
 public:
  explicit EvaluationMode(torch::nn::Module& module)
      : module_(module), wasTraining_(module.is_training()) {
    module_.eval();
  }
  ~EvaluationMode() { module_.train(wasTraining_); }
  EvaluationMode(const EvaluationMode&) = delete;
  EvaluationMode& operator=(const EvaluationMode&) = delete;

 private:
  torch::nn::Module& module_;
  bool wasTraining_;
  at::NoGradGuard noGradients_;
};

/// Copies the root's buffers to every rank: each rank has batch statistics of its own samples, but
/// all must evaluate the same model.
void shareBuffers(const torch::nn::Module& module, Communicator& world) {
  std::vector<NamedTensor> buffers;
  appendTensors(module.named_buffers(), buffers);
  if (!buffers.empty()) {
    broadcastTensors(buffers, world, 0);
  }
}

}  // namespace

Evaluator::Evaluator(torch::nn::Module& module, std::shared_ptr<Communicator> world,
                     std::vector<EvaluationMetric> metrics)
    : module_(module), world_(std::move(world)), metrics_(std::move(metrics)) {
  checkMetrics(metrics_);
}

std::vector<MetricValue> Evaluator::evaluate(const Objective& objective, BatchLoader& test) {
  shareBuffers(module_, *world_);
  const EvaluationMode mode(module_);
  sums_ = sumsOfOwnSamples(objective, test);
  return meansOverRanks();
}

std::vector<MetricSum> Evaluator::sumsOfOwnSamples(const Objective& objective,
                                                   BatchLoader& test) const {
  std::vector<MetricSum> sums(1 + metrics_.size());
  test.startEpoch(0);
  for (Batch batch; test.next(batch);) {
    objective.toDevice(batch);
    const Outcome outcome = objective(batch);
    const auto samples = static_cast<double>(batch.size());
    sums.front().sum += outcome.loss.item<double>() * samples;
    sums.front().count += samples;
    for (std::size_t i = 0; i < metrics_.size(); ++i) {
      const MetricSum found = metrics_[i].function(outcome.output, batch.targets);
      sums[i + 1].sum += found.sum;
      sums[i + 1].count += found.count;
    }
  }
  return sums;
}

std::vector<MetricValue> Evaluator::meansOverRanks() const {
  // Gathers instead of reducing: every rank sums in the same order, so all decide alike.
  const std::size_t bytes = sums_.size() * sizeof(MetricSum);
  const std::vector<std::string> gathered =
      world_->allgather({reinterpret_cast<const char*>(sums_.data()), bytes});
  std::vector<MetricSum> totals(sums_.size());
  std::vector<MetricSum> ofRank(sums_.size());
  for (const std::string& text : gathered) {
    std::memcpy(ofRank.data(), text.data(), bytes);
    for (std::size_t i = 0; i < totals.size(); ++i) {
      totals[i].sum += ofRank[i].sum;
      totals[i].count += ofRank[i].count;
    }
  }
  std::vector<MetricValue> means;
  for (std::size_t i = 0; i < totals.size(); ++i) {
    if (!(totals[i].count > 0)) {
      throw Error(ErrorCode::kInvalidArgument,
                  "Trainer: got no test data on any rank for the metric " + nameOf(i) +
                      "; expected at least one sample");
    }
    means.push_back({nameOf(i), totals[i].sum / totals[i].count});
  }
  return means;
}

void Evaluator::log(DistributedWriter& writer, std::int64_t step) const {
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    ReducedOptions options;
    options.weight = sums_[i].count;
    const double mean = sums_[i].count > 0 ? sums_[i].sum / sums_[i].count : 0;
    writer.addReduced(nameOf(i) + "/test", mean, step, options);
  }
  writer.reduce(step);
}

const std::string& Evaluator::nameOf(std::size_t sum) const {
  return sum == 0 ? kLossName : metrics_[sum - 1].name;
}

}  // namespace detail::train
}  // namespace steptape
