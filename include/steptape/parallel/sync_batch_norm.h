// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/comm/communicator.h"

#include <torch/nn/modules/batchnorm.h>

namespace steptape {

/// Batch normalization over the samples of all ranks: in training, mean and variance are those of
/// the ranks' batches put together, and so are the gradients. With small batches per rank the
/// statistics of one rank alone would be too noisy.
///
///     torch::nn::Sequential net(torch::nn::Conv2d(3, 16, 3),
///                               steptape::SyncBatchNorm(torch::nn::BatchNormOptions(16), world));
///
/// Stands for BatchNorm1d, 2d and 3d: options, parameters, buffers and their names are those of
/// torch::nn::BatchNorm, and so are its results on one rank. The batches of the ranks may differ in
/// size, and be empty on some; every sample counts the same. In evaluation nothing is communicated.
///
/// The gradients of `weight` and `bias` are of this rank's samples, as those of any other layer:
/// GradientSync averages them.
///
/// In training, forward() and the backward pass are collectives: every rank runs both equally often
/// and in the same order. Twice differentiating is not possible.
///
/// @threads Not thread-safe: one thread at a time. On CUDA devices the backward pass runs on a
///          thread of LibTorch's, while the caller's thread waits in backward(): the communicator
///          must bear that, as with MPI_THREAD_SERIALIZED.
/// @cost    One allreduce of 48 bytes per channel forward, and one of 16 bytes backward.
/// @source  Ioffe and Szegedy, arXiv:1502.03167, algorithm 1 and section 3. The ranks' statistics
///          are combined as MetricMoments::merge() does.
class STEPTAPE_EXPORT SyncBatchNormImpl
    : public torch::nn::NormImplBase<1, SyncBatchNormImpl, torch::nn::BatchNormOptions> {
 public:
  /// @param world Not used by anything else that communicates while backward() runs, such as
  ///              GradientSync: give it a duplicate() then; several layers may share one.
  SyncBatchNormImpl(const torch::nn::BatchNormOptions& batchNormOptions,
                    std::shared_ptr<Communicator> world);

  /// Takes over the options, parameters and statistics of a torch::nn::BatchNorm1d, 2d or 3d. The
  /// parameters are the same tensors, so that an optimizer which has them goes on with them.
  template <std::size_t kDimensions, typename BatchNorm>
  SyncBatchNormImpl(const torch::nn::BatchNormImplBase<kDimensions, BatchNorm>& other,
                    std::shared_ptr<Communicator> world)
      : SyncBatchNormImpl(other.options, std::move(world)) {
    takeOver(other.weight, other.bias, other.running_mean, other.running_var,
             other.num_batches_tracked, other.is_training());
  }

  /// @shape  `input`: (N, C) or (N, C, ...), of a floating-point type; the result likewise.
  /// @throws Error(kInvalidArgument) for another shape; in training on every rank if all ranks
  ///         together have less than two values per channel.
  at::Tensor forward(const at::Tensor& input);

  void pretty_print(std::ostream& stream) const override;

 protected:
  void _check_input_dim(const at::Tensor& input) override;

 private:
  void takeOver(const at::Tensor& otherWeight, const at::Tensor& otherBias,
                const at::Tensor& otherMean, const at::Tensor& otherVariance,
                const at::Tensor& otherCount, bool isTraining);

  std::shared_ptr<Communicator> world_;
};

/// A shared pointer to SyncBatchNormImpl, as every module of LibTorch has one.
TORCH_MODULE(SyncBatchNorm);

/// What convertSyncBatchNorm() did: names of modules, such as "features.1".
struct SyncBatchNormConversion {
  std::vector<std::string> converted;
  /// BatchNorm layers that are members of a class of their own, where only that class can replace
  /// them. They still normalize by the samples of their rank.
  std::vector<std::string> left;
};

/// Replaces every BatchNorm1d, 2d and 3d in the torch::nn::Sequential containers of `module` by a
/// SyncBatchNorm with the same parameters, options and statistics.
///
/// C++ has no means to change what a member of another class points to: a layer that a class keeps
/// as `torch::nn::BatchNorm2d bn` is left, and named in the result. Declare such a member as
/// SyncBatchNorm and construct it from options.
///
/// The new layers share one duplicate() of `world`. Collective: every rank calls it, with a module
/// of the same structure.
STEPTAPE_EXPORT SyncBatchNormConversion convertSyncBatchNorm(torch::nn::Module& module,
                                                             Communicator& world);

}  // namespace steptape
