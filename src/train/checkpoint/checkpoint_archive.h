// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/train/checkpoint.h"

#include "train/checkpoint/tensor_copies.h"

#include <torch/serialize/archive.h>

namespace steptape::detail::train {

using ByteSink = std::function<void(std::string_view bytes)>;

/// The content of a checkpoint before it is serialized. Refers to the memory of the tensors.
///
/// Not thread-safe: one thread at a time.
class CheckpointContent {
 public:
  /// @throws c10::Error if the module or the optimizer cannot be saved.
  CheckpointContent(const torch::nn::Module& module, const torch::optim::Optimizer& optimizer,
                    const LearningRateSchedule* schedule, const TrainingProgress& progress);

  /// Makes the content refer to copies. The module's buffers, which a forward pass may change, are
  /// copied when this call returns; the other tensors are copied after TensorCopies::wait().
  void useCopies(const torch::nn::Module& module, TensorCopies& copies);

  void setRandomStates(std::vector<std::string> ofRanks) { randomStates_ = std::move(ofRanks); }

  /// Serializes the content into `sink`. Call it once. @throws c10::Error if LibTorch cannot.
  void write(const ByteSink& sink);

 private:
  torch::serialize::OutputArchive archive_;
  torch::serialize::OutputArchive optimizer_;
  std::string optimizerSchema_;
  std::optional<std::vector<double>> baseRates_;
  std::vector<std::string> randomStates_;
  std::vector<at::Tensor> held_;
};

/// Serialize the progress alone, to send it to other ranks.
std::string encodeProgress(const TrainingProgress& progress);
TrainingProgress decodeProgress(const std::string& bytes);

/// A checkpoint in memory.
///
/// Not thread-safe: one thread at a time.
class CheckpointArchive {
 public:
  /// Opens the bytes of a checkpoint file, if they are complete and undamaged.
  ///
  /// @return what is wrong with them, such as "its end is missing".
  std::string open(const std::string& bytes);

  /// Without tensors().
  const TrainingProgress& progress() const { return progress_; }

  /// TrainingProgress::tensors; empty if the checkpoint has none. @throws c10::Error.
  std::map<std::string, at::Tensor> tensors();

  /// Returns the first difference between the arguments and what was saved, such as "the model: got
  /// weight: Float [2]; expected weight: Float [3]"; empty if there is none.
  std::string differenceFrom(const torch::nn::Module& module,
                             const torch::optim::Optimizer& optimizer,
                             const LearningRateSchedule* schedule);

  /// Restores all arguments, and the random number generators of `rank`.
  ///
  /// REQUIRES: differenceFrom() is empty. @throws c10::Error; the module is then as before.
  void restore(torch::nn::Module& module, torch::optim::Optimizer& optimizer,
               LearningRateSchedule* schedule, int rank);

 private:
  void restoreRandomState(const torch::nn::Module& module, int rank);

  torch::serialize::InputArchive archive_;
  TrainingProgress progress_;
};

}  // namespace steptape::detail::train
