// SPDX-License-Identifier: Apache-2.0
// The time to load a safetensors file, compared with read(2) of the file into memory.
//
//   safetensors_benchmark [megabytes]
#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

#include "steptape/ranks/testing.h"
#include "steptape/train/checkpoint.h"

#include "harness.h"

#include <torch/torch.h>

namespace {

using Memory = std::unique_ptr<char[]>;

/// Without initialization: its pages are missing until they are written.
Memory freshMemory(std::size_t size) {
  return Memory(new char[size]);
}

void readFile(const std::string& path, char* out, std::size_t size) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::size_t done = 0;
  for (ssize_t count = 1; file >= 0 && count > 0; done += static_cast<std::size_t>(count)) {
    count = std::max<ssize_t>(::read(file, out + done, size - done), 0);
  }
  ::close(file);
  if (done != size) {
    throw std::runtime_error("cannot read " + path);
  }
}

/// Layers as transformers have them: a matrix of 64 MiB, and vectors.
torch::nn::Sequential makeModel(std::int64_t megabytes) {
  constexpr std::int64_t kWidth = 4096;
  torch::nn::Sequential model;
  for (std::int64_t layer = 0; layer < std::max<std::int64_t>(megabytes / 64, 1); ++layer) {
    model->push_back(torch::nn::Linear(kWidth, kWidth));
    model->push_back(torch::nn::LayerNorm(torch::nn::LayerNormOptions({kWidth})));
  }
  return model;
}

template <typename Work>
double seconds(const Work& work) {
  const double start = benchmark::nowNanos();
  work();
  return (benchmark::nowNanos() - start) * 1e-9;
}

void compare(const std::string& title, const benchmark::Variant& plain,
             const benchmark::Variant& ours) {
  const auto costs = benchmark::takeTurns({plain, plain, ours}, 11);
  benchmark::printTitle(title);
  benchmark::printCosts(plain.name, costs[0], "s");
  benchmark::printCosts("the same again (A/A)", costs[1], "s");
  benchmark::printCosts(ours.name, costs[2], "s");
  benchmark::printControl("read / read again", benchmark::ratio(costs[0], costs[1]), 0.1);
  benchmark::printAtMost("time: " + ours.name + " / read", benchmark::ratio(costs[2], costs[0]),
                         1.2);
}

void run(std::int64_t megabytes) {
  const steptape::testing::TempDir directory;
  const std::string path = directory.string() + "/model.safetensors";
  torch::nn::Sequential model = makeModel(megabytes);
  steptape::saveSafetensors(path, *model);
  const std::size_t size = std::filesystem::file_size(path);
  const Memory memory = freshMemory(size);
  compare("a module, into its parameters; " + std::to_string(size >> 20) + " MiB",
          {"read into memory in use",
           [&] { return seconds([&] { readFile(path, memory.get(), size); }); }},
          {"loadSafetensors(path, module)",
           [&] { return seconds([&] { steptape::loadSafetensors(path, *model); }); }});
  compare("tensors by name, into new memory; " + std::to_string(size >> 20) + " MiB",
          {"read into new memory",
           [&] {
             return seconds([&] {
               const Memory fresh = freshMemory(size);
               readFile(path, fresh.get(), size);
               benchmark::keep(fresh.get());
             });
           }},
          {"loadSafetensors(path)", [&] {
             return seconds([&] { benchmark::keep(steptape::loadSafetensors(path).size()); });
           }});
}

}  // namespace

int main(int argc, char** argv) {
  run(argc > 1 ? std::atoll(argv[1]) : 1024);
  return 0;
}
