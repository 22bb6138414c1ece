// SPDX-License-Identifier: Apache-2.0
#include "steptape/train/sync_batch_norm.h"

#include <sstream>
#include <utility>

#include "steptape/base/status.h"

#include "train/replicas/batch_norm/sync_batch_norm_function.h"

#include <torch/nn/functional/batchnorm.h>

namespace steptape {

SyncBatchNormImpl::SyncBatchNormImpl(const torch::nn::BatchNormOptions& batchNormOptions,
                                     std::shared_ptr<Communicator> world)
    : NormImplBase(batchNormOptions), world_(std::move(world)) {}

void SyncBatchNormImpl::takeOver(const at::Tensor& otherWeight, const at::Tensor& otherBias,
                                 const at::Tensor& otherMean, const at::Tensor& otherVariance,
                                 const at::Tensor& otherCount, bool isTraining) {
  train(isTraining);
  if (options.affine()) {
    weight = parameters_["weight"] = otherWeight;
    bias = parameters_["bias"] = otherBias;
  }
  if (options.track_running_stats()) {
    // Buffers cannot be registered again, so they get the memory, type and device of the other
    // module's.
    running_mean.set_data(otherMean);
    running_var.set_data(otherVariance);
    num_batches_tracked.set_data(otherCount);
  }
}

void SyncBatchNormImpl::_check_input_dim(const at::Tensor& input) {
  if (input.dim() < 2 || input.size(1) != options.num_features() || !input.is_floating_point()) {
    std::ostringstream message;
    message << "SyncBatchNorm: got " << at::toString(input.scalar_type()) << ' ' << input.sizes()
            << "; expected floating-point numbers in the shape (N, " << options.num_features()
            << ") or (N, " << options.num_features() << ", ...)";
    throw Error(ErrorCode::kInvalidArgument, message.str());
  }
}

at::Tensor SyncBatchNormImpl::forward(const at::Tensor& input) {
  _check_input_dim(input);
  if (!is_training()) {
    return torch::nn::functional::detail::batch_norm(input, running_mean, running_var, weight, bias,
                                                     /*training=*/!options.track_running_stats(),
                                                     /*momentum=*/0, options.eps());
  }
  detail::train::RunningStatistics running;
  if (options.track_running_stats()) {
    num_batches_tracked += 1;
    running.mean = running_mean;
    running.variance = running_var;
    running.momentum = options.momentum().has_value() ? options.momentum().value()
                                                      : 1.0 / num_batches_tracked.item<double>();
  }
  return detail::train::syncBatchNorm(input, weight, bias, options.eps(), running, world_);
}

void SyncBatchNormImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "steptape::SyncBatchNorm(" << options.num_features()
         << ", eps=" << options.eps() << ", momentum=";
  if (options.momentum().has_value()) {
    stream << options.momentum().value();
  } else {
    stream << "None";
  }
  stream << ", affine=" << options.affine()
         << ", track_running_stats=" << options.track_running_stats() << ')';
}

}  // namespace steptape
