// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <steptape/mpi.h>
#include <steptape/train/gradient_sync.h>
#include <steptape/train/parameters.h>

#include "interop/training_program.h"

#include <torch/torch.h>

namespace steptape::test {
namespace {

using Fields = c10::Dict<c10::IValue, c10::IValue>;

Fields readFields(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  return torch::pickle_load(bytes).toGenericDict();
}

void writeFields(const std::string& path, const Fields& fields) {
  const std::vector<char> bytes = torch::pickle_save(fields);
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush();
  if (!file) {
    throw std::runtime_error("cannot write " + path);
  }
}

torch::nn::Sequential network(const Fields& parameters) {
  torch::nn::Sequential model(
      torch::nn::Conv2d(1, 6, 3), torch::nn::Tanh(), torch::nn::AvgPool2d(2), torch::nn::Flatten(),
      torch::nn::Linear(150, 40), torch::nn::Tanh(), torch::nn::Linear(40, 10));
  const torch::NoGradGuard noGrad;
  for (auto& item : model->named_parameters()) {
    item.value().copy_(parameters.at(item.key()).toTensor());
  }
  return model;
}

std::unique_ptr<torch::optim::Optimizer> makeOptimizer(const Fields& task,
                                                       std::vector<torch::Tensor> parameters) {
  const std::string name = task.at("optimizer").toStringRef();
  const double lr = task.at("lr").toDouble();
  const double decay = task.at("weight_decay").toDouble();
  if (name == "adam") {
    return std::make_unique<torch::optim::Adam>(std::move(parameters),
                                                torch::optim::AdamOptions(lr).weight_decay(decay));
  }
  if (name == "adamw") {
    return std::make_unique<torch::optim::AdamW>(
        std::move(parameters), torch::optim::AdamWOptions(lr).weight_decay(decay));
  }
  return std::make_unique<torch::optim::SGD>(
      std::move(parameters),
      torch::optim::SGDOptions(lr).momentum(task.at("momentum").toDouble()).weight_decay(decay));
}

GradientSyncOptions syncOptions(const Fields& task, const std::string& path) {
  GradientSyncOptions options;
  options.useSharedMemory = path == "shared";
  options.accumulationSteps = task.at("accumulation").toInt();
  options.maxNorm = task.at("max_norm").toDouble();
  if (task.at("compression").toStringRef() == "fp16") {
    options.compression = Compression::kFp16;
  }
  return options;
}

/// Makes the steps of the task.
/// @return the losses of this rank's batches; 0 if it has none.
std::vector<double> train(const Fields& task, const Communicator& world,
                          torch::nn::Sequential& model, GradientSync& sync) {
  const auto optimizer = makeOptimizer(task, model->parameters());
  const torch::Tensor inputs = task.at("inputs").toTensor()[world.rank()];
  const torch::Tensor targets = task.at("targets").toTensor()[world.rank()];
  const std::int64_t missing = task.at("missing_batches").toInt();
  const bool isLastRank = world.rank() == world.size() - 1;
  const std::int64_t batches = inputs.size(0) - (isLastRank ? missing : 0);

  std::vector<double> losses(static_cast<std::size_t>(inputs.size(0)));
  for (std::int64_t batch = 0;; ++batch) {
    const bool hasData = batch < batches;
    if (missing > 0 ? !sync.join(hasData) : !hasData) {
      return losses;
    }
    if (hasData) {
      const torch::Tensor loss =
          torch::nn::functional::cross_entropy(model->forward(inputs[batch]), targets[batch]);
      loss.backward();
      losses[static_cast<std::size_t>(batch)] = loss.item<double>();
    }
    if (sync.step(*optimizer)) {
      optimizer->zero_grad();
    }
  }
}

Fields result(const torch::nn::Sequential& model, std::vector<double> ownLosses,
              Communicator& world) {
  std::vector<double> losses(ownLosses.size() * static_cast<std::size_t>(world.size()));
  std::copy(ownLosses.begin(), ownLosses.end(),
            losses.begin() + world.rank() * static_cast<std::ptrdiff_t>(ownLosses.size()));
  world.allreduce(losses, ReduceOp::kSum);

  Fields parameters(c10::StringType::get(), c10::TensorType::get());
  for (const auto& item : model->named_parameters()) {
    parameters.insert(item.key(), item.value().detach().clone());
  }
  Fields fields(c10::StringType::get(), c10::AnyType::get());
  fields.insert("parameters", parameters);
  fields.insert("losses", torch::tensor(losses, torch::kDouble).view({world.size(), -1}));
  return fields;
}

}  // namespace

void trainAsDdp(const std::vector<std::string>& arguments) {
  const auto world = steptape::world();
  const Fields task = readFields(arguments[0]);
  torch::nn::Sequential model = network(task.at("parameters").toGenericDict());
  GradientSync sync(model->named_parameters(), world, syncOptions(task, arguments[2]));
  const std::vector<double> losses = train(task, *world, model, sync);
  checkParametersAreEqual(*model, *world);
  Fields fields = result(model, losses, *world);
  fields.insert("path", sync.describe());
  if (world->isRoot()) {
    writeFields(arguments[1], fields);
  }
}

}  // namespace steptape::test
