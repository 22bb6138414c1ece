// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/ranks/communicator.h"

#include <torch/nn/modules/batchnorm.h>

namespace steptape {

/// Normalizes a batch over the samples of all ranks. In training, mean, variance and their
/// gradients are those of all ranks' batches combined. For small batches per rank, whose own
/// statistics would be too noisy.
///
///     torch::nn::Sequential net(torch::nn::Conv2d(3, 16, 3),
///                               steptape::SyncBatchNorm(torch::nn::BatchNormOptions(16), world));
///
/// Replaces BatchNorm1d, 2d and 3d: options, parameters, buffers and their names are those of
/// torch::nn::BatchNorm, and so are the results on one rank. The ranks' batches may differ in size,
/// and be empty on some ranks; every sample has the same weight. Evaluation does not communicate.
///
/// The gradients of `weight` and `bias` are those of this rank's samples, as for any other layer:
/// GradientSync averages them.
///
/// In training, forward() and the backward pass are collectives: every rank runs both equally often
/// and in the same order. Double differentiation is not supported.
///
/// @threads Not thread-safe: one thread at a time. On CUDA devices the backward pass runs on a
///         thread of LibTorch while the caller's thread waits in backward(); the communicator must
///         allow that, as with MPI_THREAD_SERIALIZED.
/// @cost   One allreduce of 48 bytes per channel in forward(), and one of 16 bytes in the backward
///         pass.
/// @source Ioffe and Szegedy, arXiv:1502.03167, algorithm 1 and section 3. MetricMoments::merge()
///         combines the ranks' statistics.
class STEPTAPE_EXPORT SyncBatchNormImpl
    : public torch::nn::NormImplBase<1, SyncBatchNormImpl, torch::nn::BatchNormOptions> {
 public:
  /// @param batchNormOptions Options of torch::nn::BatchNorm.
  /// @param world Must not be used by other code that communicates while backward() runs, such as
  ///         GradientSync: pass a duplicate() then. Several layers may share one.
  SyncBatchNormImpl(const torch::nn::BatchNormOptions& batchNormOptions,
                    std::shared_ptr<Communicator> world);

  /// Takes over options, parameters and statistics of a torch::nn::BatchNorm1d, 2d or 3d. The
  /// parameters are the same tensors, so an optimizer that holds them stays valid.
  template <std::size_t kDimensions, typename BatchNorm>
  SyncBatchNormImpl(const torch::nn::BatchNormImplBase<kDimensions, BatchNorm>& other,
                    std::shared_ptr<Communicator> world)
      : SyncBatchNormImpl(other.options, std::move(world)) {
    takeOver(other.weight, other.bias, other.running_mean, other.running_var,
             other.num_batches_tracked, other.is_training());
  }

  /// @shape  `input`: (N, C) or (N, C, ...), of a floating-point type; the result likewise.
  /// @throws Error(kInvalidArgument) for another shape; in training, on every rank, if all ranks
  ///         together have fewer than two values per channel.
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

/// A shared pointer to SyncBatchNormImpl, like the holders of all LibTorch modules.
TORCH_MODULE(SyncBatchNorm);

/// Result of convertSyncBatchNorm(): names of modules, such as "features.1".
struct SyncBatchNormConversion {
  std::vector<std::string> converted;
  /// BatchNorm layers that are members of another class. Only that class can replace them, so they
  /// still normalize over their rank's samples.
  std::vector<std::string> left;
};

/// Replaces every BatchNorm1d, 2d and 3d in the torch::nn::Sequential containers of `module` with a
/// SyncBatchNorm that has the same parameters, options and statistics.
///
/// C++ cannot change the type of another class's member: a layer declared as
/// `torch::nn::BatchNorm2d bn` stays, and the result names it. Declare such a member as
/// SyncBatchNorm and construct it from options.
///
/// The new layers share one duplicate() of `world`. Collective: every rank calls it with a module
/// of the same structure.
STEPTAPE_EXPORT SyncBatchNormConversion convertSyncBatchNorm(torch::nn::Module& module,
                                                             Communicator& world);

}  // namespace steptape
