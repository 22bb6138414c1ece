// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "steptape/base/export.h"
#include "steptape/data/batch_loader.h"
#include "steptape/distributed/distributed_writer.h"
#include "steptape/trainer/trainer_callback.h"
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
///     each step    next() -> forward -> loss -> backward -> GradientSync::step() -> log
///     each epoch   evaluation on all ranks -> histograms -> checkpoint
///
/// What is logged, at the number of steps done: `loss/train` and `optimizer/learning_rate` every
/// step, and `optimizer/gradient_norm` where gradients are clipped; `loss/test` and `<metric>/test`
/// over all ranks' samples after each evaluation; histograms under `parameters/` and
/// `parameter_gradients/` every epoch; `samples_per_second` and `straggler/...` every few steps;
/// the text `configuration`; and a layout of these curves for the page Custom Scalars. TensorBoard
/// unfolds the first groups of tags by the alphabet: with `accuracy` these are accuracy and loss.
///
/// A run can be stopped at any step, by a signal, a time limit or a callback, on whichever rank
/// they come: all ranks end behind the same step. A run that resumes from the checkpoint then
/// written makes the steps that the first one would have made, to the last bit on the same number
/// of ranks.
///
/// Lifetimes follow from the types. The trainer keeps alive what it takes as a std::shared_ptr or a
/// ModuleHolder, which is one: model, communicator, callbacks. It copies functions and options.
/// What it takes by reference must outlive it: optimizer, writer; loaders must outlive fit().
///
/// @threads Not thread-safe: one thread at a time, the communicator's.
class STEPTAPE_EXPORT Trainer {
 public:
  /// @param model     A torch::nn::ModuleHolder or std::shared_ptr whose forward() takes and
  ///                  returns one tensor. Kept alive.
  /// @param optimizer Made from the model's parameters. Must outlive the trainer.
  /// @param writer    Must outlive the trainer.
  /// @throws Error(kInvalidArgument) for options of the learning rate that do not go together.
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

  /// Calls `callback` in fit(). The ranks may have different callbacks.
  void add(std::shared_ptr<TrainerCallback> callback);
  /// Calls `function` at one point of fit(), as a TrainerCallback with that method alone.
  ///
  ///     trainer.on(steptape::TrainerEvent::kAfterEvaluation, [](auto& context) {
  ///       if (context.metric("accuracy") > 0.99) { context.stop(); }
  ///     });
  void on(TrainerEvent event, std::function<void(TrainingContext&)> function);

  /// Trains for TrainerOptions::epochs, or goes on with a resumed run, and evaluates as the options
  /// say and after the last step. Each call begins a run of its own, with the model as it is.
  ///
  /// Begins with the root's parameters on every rank, and proves at the end that all ranks hold the
  /// same parameters still.
  ///
  /// Collective: every rank calls it. An exception of the model, the loss, a metric or a loader
  /// ends that rank alone, and the others once they have waited for Communicator::timeout() or the
  /// launcher ends them.
  ///
  ///     trainer.fit(train, test);  // ImageLoader, DatasetLoader, your own BatchLoader
  ///     trainer.fit(*torch::data::make_data_loader(...), test);  // see steptape/data/torch_data.h
  ///
  /// @param train Equally many batches on every rank, unless TrainerOptions::unevenBatches.
  /// @param test  Every sample on exactly one rank: DistributedSamplerOptions::evenShares = false.
  /// @throws Error(kRankMismatch) on every rank if the ranks differ in model, optimizer, options,
  ///         number of batches or their seed, or, at the end, in parameters. The ranks
  ///         compare BatchLoader::batches() before the first step; if that is unknown, they find a
  ///         difference at the first step for which only some ranks have data;
  ///         Error(kFailedPrecondition) on every rank if a callback threw on one;
  ///         Error(kInvalidArgument) if options do not go together, or a checkpoint to resume was
  ///         made with another BatchLoader::seed() or, in the middle of an epoch and with a
  ///         BatchLoader that has no resumeEpoch(), on another number of ranks; otherwise as
  ///         CheckpointStore.
  TrainingResult fit(BatchLoaderRef train, BatchLoaderRef test);

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
