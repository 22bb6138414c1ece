// SPDX-License-Identifier: Apache-2.0
// Measures the cost of averaging the gradients of two ranks and making a step of SGD with them:
//
//   mpiexec -n 2 --bind-to core gradients_benchmark
//
// compared with Horovod's method (packing the gradients into one buffer, MPI_Allreduce, unpacking,
// SGD) and with one MPI_Allreduce in place and SGD. Every gradient is written again before each
// exchange, because freshly written data is not in the other rank's cache. All variants alternate
// in one process. Quote a ratio from at least five launches whose controls hold.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "steptape/ranks/mpi_job.h"
#include "steptape/train/gradient_sync.h"

#include "harness.h"
#include "mpi_reference.h"

#include <ATen/Parallel.h>
#include <torch/optim/sgd.h>
#include <torch/types.h>

namespace {

constexpr float kLearningRate = 1e-6F;
constexpr std::size_t kTensors = 8;

/// Parameters and gradients as after backward(): separate tensors.
struct Tensors {
  explicit Tensors(std::size_t elements) {
    for (std::size_t i = 0; i < kTensors; ++i) {
      parameters.emplace_back(elements / kTensors, 1.0F);
      gradients.emplace_back(elements / kTensors, 0.0F);
    }
  }

  std::vector<std::vector<float>> parameters;
  std::vector<std::vector<float>> gradients;
};

void makeStep(float* __restrict parameters, const float* __restrict gradient, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    parameters[i] -= kLearningRate * (0.5F * gradient[i]);
  }
}

void rewrite(float* gradient, std::size_t size, float value) {
  for (std::size_t i = 0; i < size; ++i) {
    gradient[i] = value + static_cast<float>(i & 7U);
  }
}

/// Pack, MPI_Allreduce, unpack, SGD.
class FusionBuffer {
 public:
  explicit FusionBuffer(std::size_t elements) : tensors_(elements), buffer_(elements) {}

  void rewriteGradients(float value) {
    for (auto& gradient : tensors_.gradients) {
      rewrite(gradient.data(), gradient.size(), value);
    }
  }

  void step() {
    float* at = buffer_.data();
    for (const auto& gradient : tensors_.gradients) {
      std::memcpy(at, gradient.data(), gradient.size() * sizeof(float));
      at += gradient.size();
    }
    benchmark::allreduceSum(buffer_.data(), buffer_.size());
    at = buffer_.data();
    for (auto& gradient : tensors_.gradients) {
      std::memcpy(gradient.data(), at, gradient.size() * sizeof(float));
      at += gradient.size();
    }
    for (std::size_t i = 0; i < kTensors; ++i) {
      makeStep(tensors_.parameters[i].data(), tensors_.gradients[i].data(),
               tensors_.gradients[i].size());
    }
  }

 private:
  Tensors tensors_;
  std::vector<float> buffer_;
};

/// One MPI_Allreduce of contiguous gradients, SGD.
class InPlace {
 public:
  explicit InPlace(std::size_t elements) : parameters_(elements, 1.0F), gradient_(elements) {}

  void rewriteGradients(float value) { rewrite(gradient_.data(), gradient_.size(), value); }

  void step() {
    benchmark::allreduceSum(gradient_.data(), gradient_.size());
    makeStep(parameters_.data(), gradient_.data(), gradient_.size());
  }

 private:
  std::vector<float> parameters_;
  std::vector<float> gradient_;
};

/// GradientSync::step(), with gradients that backward() made or that it added to in place.
class Steptape {
 public:
  Steptape(std::size_t elements, bool inPlace)
      : inPlace_(inPlace),
        parameters_(makeParameters(elements)),
        sync_(parameters_, steptape::world()),
        optimizer_(parameters_.values(), torch::optim::SGDOptions(kLearningRate)) {
    if (inPlace_) {
      // Makes `.grad` the memory that the ranks share.
      sync_.setKeepGradients(true);
      rewriteGradients(0);
      step();
      sync_.setKeepGradients(false);
    }
  }

  void rewriteGradients(float value) {
    for (const auto& parameter : parameters_) {
      at::Tensor& gradient = parameter.value().mutable_grad();
      if (!gradient.defined()) {
        gradient = torch::empty_like(parameter.value());
      }
      rewrite(gradient.data_ptr<float>(), static_cast<std::size_t>(gradient.numel()), value);
    }
  }

  void step() { sync_.step(optimizer_); }

 private:
  static torch::OrderedDict<std::string, at::Tensor> makeParameters(std::size_t elements) {
    torch::OrderedDict<std::string, at::Tensor> parameters;
    for (std::size_t i = 0; i < kTensors; ++i) {
      parameters.insert(
          std::to_string(i),
          torch::ones({static_cast<std::int64_t>(elements / kTensors)}).requires_grad_());
    }
    return parameters;
  }

  bool inPlace_;
  torch::OrderedDict<std::string, at::Tensor> parameters_;
  steptape::GradientSync sync_;
  torch::optim::SGD optimizer_;
};

/// Returns the microseconds of a step, from when all ranks have their gradients until all have
/// finished.
template <typename Way>
double measure(Way& way, int repetitions) {
  double total = 0;
  for (int i = 0; i < repetitions; ++i) {
    way.rewriteGradients(static_cast<float>(i));
    benchmark::barrier();
    const double start = benchmark::nowNanos();
    way.step();
    benchmark::barrier();
    total += benchmark::nowNanos() - start;
  }
  return total / repetitions / 1e3;
}

void compare(std::size_t bytes, bool isRoot) {
  const std::size_t elements = bytes / sizeof(float);
  const int repetitions = bytes <= (std::size_t{1} << 20) ? 40 : 6;
  FusionBuffer fusion(elements);
  InPlace inPlace(elements);
  Steptape views(elements, true);
  Steptape fresh(elements, false);
  const std::vector<benchmark::Variant> variants = {
      {"pack, MPI_Allreduce, unpack, SGD", [&] { return measure(fusion, repetitions); }},
      {"the same again (A/A)", [&] { return measure(fusion, repetitions); }},
      {"MPI_Allreduce in place, SGD", [&] { return measure(inPlace, repetitions); }},
      {"GradientSync::step(), gradients added to in place",
       [&] { return measure(views, repetitions); }},
      {"GradientSync::step(), fresh gradients", [&] { return measure(fresh, repetitions); }}};
  const std::vector<benchmark::Costs> costs = benchmark::takeTurns(variants, 15);
  if (!isRoot) {
    return;
  }
  benchmark::printTitle("Averaging and SGD, " + std::to_string(bytes >> 10) + " KiB");
  for (std::size_t i = 0; i < variants.size(); ++i) {
    benchmark::printCosts(variants[i].name, costs[i], "us");
  }
  benchmark::printControl("A/A", benchmark::ratio(costs[0], costs[1]), 0.5);
  benchmark::printAtLeast("packing / in place gradients", benchmark::ratio(costs[0], costs[3]), 3);
  benchmark::printAtLeast("in-place allreduce / in place gradients",
                          benchmark::ratio(costs[2], costs[3]), 2);
  benchmark::printAtLeast("packing / fresh gradients", benchmark::ratio(costs[0], costs[4]), 3);
}

double barrierMicros() {
  constexpr int kBarriers = 2000;
  const double start = benchmark::nowNanos();
  for (int i = 0; i < kBarriers; ++i) {
    benchmark::barrier();
  }
  return (benchmark::nowNanos() - start) / kBarriers / 1e3;
}

}  // namespace

int main(int argc, char** argv) {
  steptape::Environment mpi(argc, argv);
  at::set_num_threads(1);
  const bool isRoot = steptape::world()->isRoot();
  const double barrier = barrierMicros();
  if (isRoot) {
    std::printf("MPI_Barrier: %.2f us (%s)\n", barrier, barrier < 0.4 ? "near cores" : "far cores");
  }
  for (const std::size_t kib : {64, 1024, 4096, 16384, 65536}) {
    compare(kib << 10, isRoot);
  }
  return 0;
}
