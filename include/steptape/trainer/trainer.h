// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "steptape/base/export.h"
#include "steptape/distributed/distributed_writer.h"
#include "steptape/trainer/batch_loader.h"
#include "steptape/trainer/trainer_options.h"

#include <ATen/core/Tensor.h>

namespace torch::nn {
class Module;
}
namespace torch::optim {
class Optimizer;
}

namespace steptape {

/// Trains a LibTorch model on all ranks of a job, and logs what all ranks saw.
///
///     Net model;                                               // any module with forward(Tensor)
///     torch::optim::SGD optimizer(model->parameters(), 0.01);
///     steptape::DistributedWriter writer("runs/exp", world);
///     steptape::Trainer trainer(model, optimizer, world, writer);
///     trainer.fit(trainLoader, testLoader);
///
/// Synchronous data parallelism: every rank computes the gradient of its own batch, GradientSync
/// averages them, and all ranks make the same step.
///
///     each step   next() -> forward -> loss -> backward -> synchronize() -> optimizer.step() ->
///     log each epoch  evaluate on all ranks -> reduce -> histograms -> checkpoint
///
/// What is logged, at the number of steps done: `loss/train` of the root's batch and
/// `learning_rate` every step; `loss/test` and `accuracy/test` over all ranks' samples,
/// `epoch_seconds`, `samples_per_second`, and histograms under `parameters/` and `gradients/` every
/// epoch.
///
/// @threads Not thread-safe: one thread at a time, the communicator's.
class STEPTAPE_EXPORT Trainer {
 public:
  /// Keeps references to `optimizer` and `writer`, which must live as long as the trainer.
  ///
  /// @param model     A torch::nn::ModuleHolder or std::shared_ptr whose forward() takes and
  ///                  returns one tensor.
  /// @param optimizer Made from the model's parameters.
  template <typename Model>
  Trainer(Model model, torch::optim::Optimizer& optimizer, std::shared_ptr<Communicator> world,
          DistributedWriter& writer, TrainerOptions options = {})
      : Trainer(
            modulePointer(model),
            [model](const at::Tensor& input) mutable { return model->forward(input); }, optimizer,
            std::move(world), writer, std::move(options)) {}

  /// As above, for a model whose forward pass is more than one call.
  Trainer(std::shared_ptr<torch::nn::Module> module,
          std::function<at::Tensor(const at::Tensor&)> forward, torch::optim::Optimizer& optimizer,
          std::shared_ptr<Communicator> world, DistributedWriter& writer,
          TrainerOptions options = {});
  ~Trainer();
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  /// Trains for TrainerOptions::epochs, or goes on with a resumed run, and evaluates after every
  /// epoch and after the last step.
  ///
  /// Begins with the root's parameters on every rank, and proves at the end that all ranks hold the
  /// same parameters still.
  ///
  /// Collective: every rank calls it.
  ///
  /// @param train Equally many batches on every rank.
  /// @param test  Every sample on exactly one rank: DistributedSamplerOptions::evenShares = false.
  /// @throws Error(kRankMismatch) on every rank if the ranks differ in model, number of batches,
  ///         or, at the end, parameters; Error(kInvalidArgument) if a checkpoint to resume was made
  ///         with another BatchLoader::seed() or, in the middle of an epoch, another number of
  ///         ranks; otherwise as loadCheckpoint() and saveCheckpoint().
  TrainingResult fit(BatchLoader& train, BatchLoader& test);

 private:
  class Impl;

  template <typename Module>
  static std::shared_ptr<torch::nn::Module> modulePointer(const std::shared_ptr<Module>& module) {
    return module;
  }
  template <typename Holder>
  static auto modulePointer(const Holder& holder) -> decltype(holder.ptr()) {
    return holder.ptr();
  }

  std::unique_ptr<Impl> impl_;
};

}  // namespace steptape
