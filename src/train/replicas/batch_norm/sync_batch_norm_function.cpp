// SPDX-License-Identifier: Apache-2.0
#include "train/replicas/batch_norm/sync_batch_norm_function.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "steptape/base/array_view.h"
#include "steptape/base/status.h"
#include "steptape/ranks/collective.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/ivalue.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <torch/autograd.h>

namespace steptape::detail::train {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

/// A communicator in a form that LibTorch's graph can hold.
struct WorldCapsule : torch::CustomClassHolder {
  explicit WorldCapsule(std::shared_ptr<Communicator> communicator)
      : world(std::move(communicator)) {}
  std::shared_ptr<Communicator> world;
};

CollectiveOptions named(const char* name) {
  CollectiveOptions options;
  options.name = name;
  return options;
}

/// Returns all dimensions except that of the channels.
std::vector<std::int64_t> sampleDimensions(const at::Tensor& tensor) {
  std::vector<std::int64_t> dimensions = {0};
  for (std::int64_t d = 2; d < tensor.dim(); ++d) {
    dimensions.push_back(d);
  }
  return dimensions;
}

/// Returns one number per channel, in a shape that broadcasts to that of `like`.
at::Tensor perChannel(const at::Tensor& numbers, const at::Tensor& like) {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(like.dim()), 1);
  shape[1] = -1;
  return numbers.view(shape);
}

/// Returns the type for computing: float16 and bfloat16 are too coarse for sums.
at::ScalarType computeType(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
}

/// Returns the numbers as doubles in main memory.
at::Tensor forExchange(const at::Tensor& numbers) {
  return numbers.detach().to(at::kCPU, at::kDouble).contiguous();
}

/// Statistics of all ranks' samples, by channel.
struct BatchStatistics {
  double count = 0;
  at::Tensor mean;      ///< In the compute type, on the input's device, like the others.
  at::Tensor variance;  ///< Population variance.
};

/// Returns moments about this rank's own mean: a sum of squares would lose the digits of a small
/// variance.
std::vector<MetricMoments> ownMoments(const at::Tensor& input) {
  const std::int64_t channels = input.size(1);
  std::vector<MetricMoments> moments(static_cast<std::size_t>(channels));
  const std::int64_t count = channels == 0 ? 0 : input.numel() / channels;
  if (count == 0) {
    return moments;
  }
  const at::Tensor mean = input.mean(sampleDimensions(input));
  const at::Tensor squares =
      (input - perChannel(mean, input)).square().sum(sampleDimensions(input));
  const at::Tensor means = forExchange(mean);
  const at::Tensor deviations = forExchange(squares);
  for (std::int64_t c = 0; c < channels; ++c) {
    MetricMoments& own = moments[static_cast<std::size_t>(c)];
    own.weight = static_cast<double>(count);
    own.weightedSum = own.weight * means.data_ptr<double>()[c];
    own.squaredDeviations = deviations.data_ptr<double>()[c];
  }
  return moments;
}

BatchStatistics statisticsOfAllRanks(const at::Tensor& input, Communicator& world) {
  std::vector<MetricMoments> moments = ownMoments(input);
  world.allreduce(ArrayView<MetricMoments>(moments), named("SyncBatchNorm forward"));
  BatchStatistics all;
  all.count = moments.empty() ? 0 : moments.front().weight;
  if (all.count < 2) {
    throw Error(ErrorCode::kInvalidArgument,
                "SyncBatchNorm: got " + std::to_string(static_cast<std::int64_t>(all.count)) +
                    " values per channel on all ranks together; expected at least 2 in training");
  }
  const at::Tensor mean = at::empty({input.size(1)}, at::kDouble);
  const at::Tensor variance = at::empty({input.size(1)}, at::kDouble);
  for (std::int64_t c = 0; c < input.size(1); ++c) {
    const MetricMoments& channel = moments[static_cast<std::size_t>(c)];
    mean.data_ptr<double>()[c] = channel.mean();
    variance.data_ptr<double>()[c] = channel.squaredDeviations / channel.weight;
  }
  all.mean = mean.to(input.options());
  all.variance = variance.to(input.options());
  return all;
}

void update(const RunningStatistics& running, const BatchStatistics& batch) {
  if (!running.mean.defined()) {
    return;
  }
  const double unbiased = batch.count / (batch.count - 1);
  at::Tensor(running.mean).lerp_(batch.mean.to(running.mean.scalar_type()), running.momentum);
  at::Tensor(running.variance)
      .lerp_((batch.variance * unbiased).to(running.variance.scalar_type()), running.momentum);
}

class SyncBatchNormFunction : public torch::autograd::Function<SyncBatchNormFunction> {
 public:
  /// @param weight,bias One per channel.
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input,
                            const at::Tensor& weight, const at::Tensor& bias, double eps,
                            const RunningStatistics& running,
                            const std::shared_ptr<Communicator>& world) {
    const at::Tensor x = input.to(computeType(input));
    const BatchStatistics batch = statisticsOfAllRanks(x, *world);
    update(running, batch);
    const at::Tensor inverseStd = (batch.variance + eps).rsqrt();
    const at::Tensor scale = inverseStd * weight.to(x.scalar_type());
    const at::Tensor normalized = (x - perChannel(batch.mean, x)) * perChannel(scale, x) +
                                  perChannel(bias.to(x.scalar_type()), x);
    context->save_for_backward({input, weight, batch.mean, inverseStd});
    context->saved_data["count"] = batch.count;
    context->saved_data["world"] =
        c10::IValue::make_capsule(c10::make_intrusive<WorldCapsule>(world));
    return normalized.to(input.scalar_type());
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    if (at::GradMode::is_enabled()) {
      throw Error(
          ErrorCode::kFailedPrecondition,
          "SyncBatchNorm: got a backward() with create_graph; expected one without, because it "
          "cannot be differentiated twice");
    }
    const tensor_list saved = context->get_saved_variables();
    const at::Tensor& input = saved[0];
    const at::Tensor& weight = saved[1];
    const at::Tensor& mean = saved[2];
    const at::Tensor& inverseStd = saved[3];
    const at::Tensor x = input.to(computeType(input));
    const at::Tensor dy = gradients[0].to(x.scalar_type());
    const at::Tensor centered = x - perChannel(mean, x);
    const at::Tensor sumDy = dy.sum(sampleDimensions(dy));
    const at::Tensor sumDyCentered = (dy * centered).sum(sampleDimensions(dy));

    // The sums of all ranks, in one array.
    const at::Tensor sums = forExchange(at::cat({sumDy, sumDyCentered}));
    worldOf(*context).allreduce(
        ArrayView<double>(sums.data_ptr<double>(), static_cast<std::size_t>(sums.numel())),
        ReduceOp::kSum, named("SyncBatchNorm backward"));
    const at::Tensor means = (sums / context->saved_data["count"].toDouble()).to(x.options());
    const std::int64_t channels = x.size(1);
    const at::Tensor meanDy = means.narrow(0, 0, channels);
    const at::Tensor slope = means.narrow(0, channels, channels) * inverseStd.square();
    const at::Tensor dx = (dy - perChannel(meanDy, x) - centered * perChannel(slope, x)) *
                          perChannel(inverseStd * weight.to(x.scalar_type()), x);
    return {dx.to(input.scalar_type()),
            (sumDyCentered * inverseStd).to(weight.scalar_type()),
            sumDy.to(weight.scalar_type()),
            at::Tensor(),
            at::Tensor(),
            at::Tensor()};
  }

 private:
  static Communicator& worldOf(AutogradContext& context) {
    return *c10::static_intrusive_pointer_cast<WorldCapsule>(
                context.saved_data["world"].toCapsule())
                ->world;
  }
};

}  // namespace

at::Tensor syncBatchNorm(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias,
                         double eps, const RunningStatistics& running,
                         const std::shared_ptr<Communicator>& world) {
  const at::TensorOptions options = input.options().dtype(computeType(input));
  return SyncBatchNormFunction::apply(
      input, weight.defined() ? weight : at::ones({input.size(1)}, options),
      bias.defined() ? bias : at::zeros({input.size(1)}, options), eps, running, world);
}

}  // namespace steptape::detail::train
