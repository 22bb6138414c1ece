// SPDX-License-Identifier: Apache-2.0
#include "libtorch/graph/model_state.h"

#include <set>

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <ATen/core/Generator.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/InferenceMode.h>
#include <torch/nn/module.h>

namespace steptape::detail::libtorch {
namespace {

/// One random generator with its saved state.
class SavedGenerator {
 public:
  explicit SavedGenerator(at::Generator generator) : generator_(std::move(generator)) {
    const std::lock_guard<std::mutex> lock(generator_.mutex());
    state_ = generator_.get_state();
  }
  void restore() {
    const std::lock_guard<std::mutex> lock(generator_.mutex());
    generator_.set_state(state_);
  }

 private:
  at::Generator generator_;
  at::Tensor state_;
};

std::vector<SavedGenerator> savedGenerators(const ModelTree& tree,
                                            const std::vector<at::Tensor>& inputs) {
  std::set<std::pair<at::DeviceType, at::DeviceIndex>> devices{{at::kCPU, -1}};
  for (const at::Tensor& input : inputs) {
    devices.emplace(input.device().type(), input.device().index());
  }
  for (const ModelTensor& held : tree.tensors) {
    devices.emplace(held.tensor.device().type(), held.tensor.device().index());
  }
  std::vector<SavedGenerator> generators;
  for (const auto& [type, index] : devices) {
    // Other devices, such as meta, have no random numbers.
    if (type == at::kCPU || type == at::kCUDA) {
      const at::Device device = type == at::kCPU ? at::Device(type) : at::Device(type, index);
      generators.emplace_back(at::globalContext().defaultGenerator(device));
    }
  }
  return generators;
}

/// A tensor to which the pass may write.
class SavedBuffer {
 public:
  explicit SavedBuffer(const at::Tensor& buffer)
      : buffer_(buffer), copy_(buffer.detach().clone()) {}
  void restore() {
    // Restored whether or not the buffer's version has changed, because batch_norm() does not
    // change it.
    if (buffer_.is_inference()) {
      const c10::InferenceMode inference;
      buffer_.copy_(copy_);
    } else {
      // data() has a separate version, so that a later backward() does not notice the write.
      buffer_.data().copy_(copy_);
    }
  }

 private:
  at::Tensor buffer_;
  at::Tensor copy_;
};

/// A gradient that the pass cannot access.
class SavedGradient {
 public:
  explicit SavedGradient(const at::Tensor& parameter)
      : parameter_(parameter), gradient_(parameter.grad()) {
    parameter_.mutable_grad() = at::Tensor();
  }
  void restore() { parameter_.mutable_grad() = gradient_; }

 private:
  at::Tensor parameter_;
  at::Tensor gradient_;
};

class SavedState {
 public:
  SavedState(const ModelTree& tree, const std::vector<at::Tensor>& inputs)
      : gradMode_(at::GradMode::is_enabled()), generators_(savedGenerators(tree, inputs)) {
    const at::NoGradGuard noGrad;
    for (const ModelTensor& held : tree.tensors) {
      if (!held.isParameter) {
        buffers_.emplace_back(held.tensor);
      }
    }
    for (const ModelTensor& held : tree.tensors) {
      if (held.isParameter) {
        gradients_.emplace_back(held.tensor);
      }
    }
  }

  void restore() {
    {
      const at::NoGradGuard noGrad;
      for (SavedGradient& gradient : gradients_) {
        gradient.restore();
      }
      for (SavedBuffer& buffer : buffers_) {
        buffer.restore();
      }
      for (SavedGenerator& generator : generators_) {
        generator.restore();
      }
    }
    at::GradMode::set_enabled(gradMode_);
  }

 private:
  bool gradMode_;
  std::vector<SavedGenerator> generators_;
  std::vector<SavedBuffer> buffers_;
  std::vector<SavedGradient> gradients_;
};

/// Calls `restore` after `pass`, even if `pass` throws.
template <typename Restore>
void runThen(const std::function<void()>& pass, const Restore& restore) {
  try {
    pass();
  } catch (...) {
    restore();
    throw;
  }
  restore();
}

}  // namespace

void runAndRestore(const ModelTree& tree, const std::vector<at::Tensor>& inputs,
                   const std::function<void()>& pass) {
  SavedState saved(tree, inputs);
  runThen(pass, [&] { saved.restore(); });
}

void runAndRestore(torch::nn::Module& module, const ModelTree& tree,
                   const std::vector<at::Tensor>& inputs, const std::function<void()>& pass) {
  std::vector<std::pair<torch::nn::Module*, bool>> flags;
  // By address: the module itself may not be held by a shared_ptr.
  module.apply([&](torch::nn::Module& each) { flags.emplace_back(&each, each.is_training()); });
  runThen([&] { runAndRestore(tree, inputs, pass); },
          [&] {
            // train() also changes submodules. Parents come first, so each module ends with its own
            // flag.
            for (const auto& [each, training] : flags) {
              if (each->is_training() != training) {
                each->train(training);
              }
            }
          });
}

std::vector<at::Tensor> copiesOf(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> copies;
  copies.reserve(tensors.size());
  for (const at::Tensor& tensor : tensors) {
    copies.push_back(tensor.detach().clone().requires_grad_(tensor.requires_grad()));
  }
  return copies;
}

}  // namespace steptape::detail::libtorch
