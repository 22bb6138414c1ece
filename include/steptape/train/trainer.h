// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "steptape/base/export.h"
#include "steptape/metrics/distributed_writer.h"
#include "steptape/train/batch_loader.h"
#include "steptape/train/trainer_callback.h"
#include "steptape/train/trainer_options.h"

#include <ATen/core/Tensor.h>

namespace torch::nn {
class Module;
}
namespace torch::optim {
class Optimizer;
}

namespace steptape {

/// Trains a LibTorch model on all ranks of a job, and logs metrics over all ranks.
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
/// Points are logged at the number of steps done. Every step: `loss/train`,
/// `optimizer/learning_rate`, and `optimizer/gradient_norm` if gradients are clipped. After each
/// evaluation, over all ranks' samples: `loss/test` and `<metric>/test`. Every epoch: histograms
/// under `parameters/` and `parameter_gradients/`. Every few steps: `samples_per_second`,
/// `teraflops_per_second` and `straggler/...`. Once: the text `configuration`, and a layout of
/// these curves for the page Custom Scalars. TensorBoard unfolds only the first groups of tags in
/// alphabetical order; with a metric `accuracy` these are accuracy and loss.
///
/// A signal, a time limit or a callback on any rank can stop the run at any step; all ranks end
/// after the same step. A run that resumes from the checkpoint written then makes the same steps as
/// an uninterrupted run, bit-identically with the same number of ranks.
///
/// The trainer shares ownership of arguments passed as std::shared_ptr or ModuleHolder (model,
/// communicator, callbacks), and copies functions and options. Arguments passed by reference must
/// outlive it (optimizer, writer); loaders must outlive fit().
///
/// @threads Not thread-safe: only the communicator's thread, one at a time.
class STEPTAPE_EXPORT Trainer {
 public:
  /// @param model     A torch::nn::ModuleHolder or std::shared_ptr whose forward() takes and
  ///         returns one tensor. The trainer shares its ownership.
  /// @param optimizer Made from the model's parameters. Must outlive the trainer.
  /// @param world     All ranks of the job.
  /// @param writer    Must outlive the trainer.
  /// @param options   See TrainerOptions.
  /// @throws Error(kInvalidArgument) if the options of the learning rate cannot be combined.
  template <typename Model>
  Trainer(Model model, torch::optim::Optimizer& optimizer, std::shared_ptr<Communicator> world,
          DistributedWriter& writer, TrainerOptions options = {})
      : Trainer(
            modulePointer(model),
            [model](const at::Tensor& input) mutable { return model->forward(input); }, optimizer,
            std::move(world), writer, std::move(options)) {}

  /// Like the constructor above, for a model whose forward pass is more than one call.
  Trainer(std::shared_ptr<torch::nn::Module> module,
          std::function<at::Tensor(const at::Tensor&)> forward, torch::optim::Optimizer& optimizer,
          std::shared_ptr<Communicator> world, DistributedWriter& writer,
          TrainerOptions options = {});
  ~Trainer();
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  /// Registers `callback` for fit(). The ranks may have different callbacks.
  void add(std::shared_ptr<TrainerCallback> callback);
  /// Registers `function` for one point of fit(), like a TrainerCallback with only that method.
  ///
  ///     trainer.on(steptape::TrainerEvent::kAfterEvaluation, [](auto& context) {
  ///       if (context.metric("accuracy") > 0.99) { context.stop(); }
  ///     });
  void on(TrainerEvent event, std::function<void(TrainingContext&)> function);

  /// Trains for TrainerOptions::epochs, or continues a resumed run. Evaluates as the options say
  /// and after the last step. Each call is a run of its own that starts with the current model.
  ///
  /// Copies the root's parameters to every rank at the start, and checks at the end that all ranks
  /// hold the same parameters.
  ///
  /// Collective: every rank calls it. An exception of the model, the loss, a metric or a loader
  /// ends only that rank; the others end after Communicator::timeout(), or when the launcher ends
  /// them.
  ///
  ///     trainer.fit(train, test);  // ImageLoader, DatasetLoader, your own BatchLoader
  ///     trainer.fit(*torch::data::make_data_loader(...), test);  // <steptape/train/torch_data.h>
  ///
  /// @param train Equally many batches on every rank, unless TrainerOptions::unevenBatches is set.
  /// @param test  Every sample on exactly one rank: DistributedSamplerOptions::evenShares = false.
  /// @return the same on every rank, except the times.
  /// @throws Error(kRankMismatch) on every rank if the ranks differ in model, optimizer, options,
  ///         number of batches, seed or, at the end, parameters. The ranks compare
  ///         BatchLoader::batches() before the first step; if the number is unknown, they detect a
  ///         difference at the first step for which only some ranks have data.
  ///         Error(kFailedPrecondition) on every rank if a callback threw on one rank.
  ///         Error(kInvalidArgument) if options cannot be combined, or if the checkpoint to resume
  ///         has another BatchLoader::seed() or, in the middle of an epoch and with a BatchLoader
  ///         without resumeEpoch(), another number of ranks. Otherwise as CheckpointStore.
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
