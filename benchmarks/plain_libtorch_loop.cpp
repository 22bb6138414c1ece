// SPDX-License-Identifier: Apache-2.0
// Measures the cost of training without Steptape: a network (--model cnn or mlp) and the batches of
// examples/fashion_mnist in a plain LibTorch loop without logging or communication. Compare the
// example's epoch on n ranks with n of these at the same time, each on 1/n of the images (--shards
// n).
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <getopt.h>
#include <memory>
#include <string>
#include <vector>

#include "../examples/fashion_mnist/network.h"

#include <ATen/Parallel.h>
#include <torch/torch.h>
#include <zlib.h>

namespace {

constexpr std::int64_t kBatchSize = 64;
constexpr std::int64_t kImages = 60000;

struct Arguments {
  std::string data = "/usr/share/datasets/fashion-mnist";
  std::string model = "cnn";
  std::int64_t epochs = 1;
  std::int64_t maxSteps = 0;
  std::int64_t shards = 1;
  int seed = 1;
  int threads = 1;
};

Arguments parse(int argc, char** argv) {
  constexpr option kOptions[] = {
      {"data", required_argument, nullptr, 'd'},    {"model", required_argument, nullptr, 'm'},
      {"epochs", required_argument, nullptr, 'e'},  {"max-steps", required_argument, nullptr, 'x'},
      {"shards", required_argument, nullptr, 'n'},  {"seed", required_argument, nullptr, 's'},
      {"threads", required_argument, nullptr, 't'}, {nullptr, 0, nullptr, 0}};
  Arguments arguments;
  int letter = 0;
  while ((letter = getopt_long(argc, argv, "", kOptions, nullptr)) != -1) {
    switch (letter) {
      // clang-format off
      case 'd': arguments.data = optarg; break;
      case 'm': arguments.model = optarg; break;
      case 'e': arguments.epochs = std::atoll(optarg); break;
      case 'x': arguments.maxSteps = std::atoll(optarg); break;
      case 'n': arguments.shards = std::atoll(optarg); break;
      case 's': arguments.seed = std::atoi(optarg); break;
      case 't': arguments.threads = std::atoi(optarg); break;
      default: std::exit(2);
        // clang-format on
    }
  }
  return arguments;
}

/// Reads the last `count` bytes of a gzipped IDX file whose header has `headerBytes`.
std::vector<std::uint8_t> readIdx(const std::string& path, int headerBytes, std::size_t count) {
  std::vector<std::uint8_t> header(static_cast<std::size_t>(headerBytes));
  std::vector<std::uint8_t> bytes(count);
  gzFile file = gzopen(path.c_str(), "rb");
  const bool whole =
      file != nullptr &&
      gzread(file, header.data(), static_cast<unsigned>(headerBytes)) == headerBytes &&
      gzread(file, bytes.data(), static_cast<unsigned>(count)) == static_cast<int>(count);
  if (!whole) {
    std::fprintf(stderr, "cannot read %s; expected a file of Fashion-MNIST\n", path.c_str());
    std::exit(1);
  }
  gzclose(file);
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = parse(argc, argv);
  at::set_num_threads(arguments.threads);
  torch::manual_seed(arguments.seed);

  auto pixels = readIdx(arguments.data + "/train-images-idx3-ubyte.gz", 16, kImages * 28 * 28);
  auto classes = readIdx(arguments.data + "/train-labels-idx1-ubyte.gz", 8, kImages);
  // Normalized once, outside of the measured time: the baseline should have hardly any input
  // pipeline.
  const torch::Tensor images = torch::from_blob(pixels.data(), {kImages, 1, 28, 28}, torch::kByte)
                                   .to(torch::kFloat)
                                   .div_(255)
                                   .sub_(0.1307)
                                   .div_(0.3081);
  const torch::Tensor labels =
      torch::from_blob(classes.data(), {kImages}, torch::kByte).to(torch::kLong);

  const std::shared_ptr<Classifier> model = makeClassifier(arguments.model);
  torch::optim::SGD optimizer(model->parameters(), torch::optim::SGDOptions(0.01).momentum(0.5));
  std::int64_t steps = 0;
  double seconds = 0;
  double loss = 0;
  for (std::int64_t epoch = 0; epoch < arguments.epochs; ++epoch) {
    const torch::Tensor order = torch::randperm(kImages).narrow(0, 0, kImages / arguments.shards);
    const auto start = std::chrono::steady_clock::now();
    for (const torch::Tensor& indices : order.split(kBatchSize)) {
      if (arguments.maxSteps > 0 && steps >= arguments.maxSteps) {
        break;
      }
      optimizer.zero_grad();
      const torch::Tensor output = model->forward(images.index_select(0, indices));
      const torch::Tensor batchLoss = torch::nll_loss(output, labels.index_select(0, indices));
      batchLoss.backward();
      optimizer.step();
      loss = batchLoss.item<double>();
      ++steps;
    }
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  const auto stepsPerEpoch = (kImages / arguments.shards + kBatchSize - 1) / kBatchSize;
  std::printf("{\"steps\":%lld,\"seconds_per_epoch\":%.6f,\"loss\":%.4f}\n",
              static_cast<long long>(steps),
              seconds * static_cast<double>(stepsPerEpoch) / static_cast<double>(steps), loss);
  return 0;
}
