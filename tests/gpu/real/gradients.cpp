// SPDX-License-Identifier: Apache-2.0
// A rank of the job that ../ddp_gradients_test.py compares with PyTorch's DistributedDataParallel.
//
//   gpu_gradients cpu|cuda INITIAL RESULT   reads the initial parameters, writes RESULT.<rank>
//
// A file holds float32 numbers. RESULT holds the averaged gradients of every step, then the
// parameters.
#include <cstdint>
#include <exception>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "steptape/ranks/c10d_job.h"
#include "steptape/train/gradient_sync.h"
#include "steptape/train/recipe.h"

#include <torch/torch.h>

namespace {

constexpr int kSteps = 4;

std::vector<float> readNumbers(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::vector<float> numbers(static_cast<std::size_t>(file.tellg()) / sizeof(float));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(numbers.data()),
            static_cast<std::streamsize>(numbers.size() * sizeof(float)));
  if (!file) {
    throw std::runtime_error(path + " cannot be read");
  }
  return numbers;
}

/// The network of ../ddp_gradients_test.py.
torch::nn::Sequential network() {
  return torch::nn::Sequential(torch::nn::Linear(64, 512), torch::nn::Tanh(),
                               torch::nn::Linear(512, 512), torch::nn::Tanh(),
                               torch::nn::Linear(512, 10));
}

void setParameters(torch::nn::Sequential& net, std::vector<float> numbers) {
  const torch::NoGradGuard noGrad;
  std::int64_t next = 0;
  const torch::Tensor all =
      torch::from_blob(numbers.data(), {static_cast<std::int64_t>(numbers.size())});
  for (torch::Tensor& parameter : net->parameters()) {
    parameter.copy_(all.slice(0, next, next + parameter.numel()).view(parameter.sizes()));
    next += parameter.numel();
  }
}

void append(const torch::Tensor& tensor, std::ofstream& file) {
  const torch::Tensor onHost = tensor.detach().cpu().contiguous();
  file.write(static_cast<const char*>(onHost.data_ptr()),
             static_cast<std::streamsize>(onHost.nbytes()));
}

/// Exact in float32, and equal in Python.
torch::Tensor samplesOf(int rank, int step) {
  const torch::Tensor numbers = torch::arange(32 * 64) * (2 * rank + 3) + 7 * step;
  return (numbers % 17).to(torch::kFloat).view({32, 64}) / 16 - 0.5;
}

void train(torch::Device device, const std::string& initial, const std::string& result) {
  const std::shared_ptr<steptape::Communicator> world = steptape::world();
  torch::nn::Sequential net = network();
  setParameters(net, readNumbers(initial));
  net->to(device);
  steptape::GradientSyncOptions options;
  options.firstBucketBytes = 64 << 10;  // several buckets
  options.bucketBytes = 256 << 10;
  steptape::GradientSync sync(net->named_parameters(), world, options);
  std::ofstream file(result + "." + std::to_string(world->rank()), std::ios::binary);
  for (int step = 0; step < kSteps; ++step) {
    net->zero_grad();
    net->forward(samplesOf(world->rank(), step).to(device)).pow(2).mean().backward();
    sync.synchronize();
    const torch::NoGradGuard noGrad;
    for (torch::Tensor& parameter : net->parameters()) {
      append(parameter.grad(), file);
      parameter.sub_(parameter.grad() * 0.5);
    }
  }
  for (const torch::Tensor& parameter : net->parameters()) {
    append(parameter, file);
  }
  if (world->rank() == 0) {
    std::cout << sync.describe() << std::endl;
  }
  if (!file.flush()) {
    throw std::runtime_error(result + " cannot be written");
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 4) {
      throw std::invalid_argument("usage: gpu_gradients cpu|cuda INITIAL RESULT");
    }
    const steptape::Environment environment;
    const bool isOnCpu = std::string(argv[1]) == "cpu";
    train(isOnCpu ? torch::Device(torch::kCPU) : steptape::deviceForLocalRank(*steptape::world()),
          argv[2], argv[3]);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "gpu_gradients: " << error.what() << std::endl;
    return 1;
  }
}
