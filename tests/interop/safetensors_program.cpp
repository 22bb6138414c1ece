// SPDX-License-Identifier: Apache-2.0
// Reads and writes safetensors files for safetensors_test.py:
//
//   safetensors_program copy IN OUT     all tensors, by name
//   safetensors_program model IN OUT    the parameters and buffers of Model
#include <cstdio>
#include <exception>
#include <memory>
#include <string>

#include <steptape/train/checkpoint.h>

#include <torch/torch.h>

namespace {

struct Layer : torch::nn::Module {
  explicit Layer(const torch::Tensor& weight) { register_parameter("weight", weight); }
};

/// The class Model of safetensors_test.py.
struct Model : torch::nn::Module {
  Model() {
    register_module("features",
                    torch::nn::Sequential(torch::nn::Conv2d(2, 4, 3), torch::nn::BatchNorm2d(4)));
    const torch::Tensor tied = torch::zeros({2, 3});
    register_module("encoder", std::make_shared<Layer>(tied));
    register_module("decoder", std::make_shared<Layer>(tied));
  }
};

void copyTensors(const std::string& in, const std::string& out) {
  steptape::saveSafetensors(out, steptape::loadSafetensors(in),
                            steptape::SafetensorsFile(in).metadata());
}

void copyModel(const std::string& in, const std::string& out) {
  Model model;
  steptape::loadSafetensors(in, model);
  steptape::saveSafetensors(out, model);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s copy|model IN OUT\n", argv[0]);
    return 2;
  }
  try {
    (std::string(argv[1]) == "model" ? copyModel : copyTensors)(argv[2], argv[3]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
