// SPDX-License-Identifier: Apache-2.0
// The smallest training program: a network, an optimizer, and a Trainer that does the rest.
//
//   tools/get_data.sh mnist
//   mpiexec -n 2 mnist --epochs 3
//   tensorboard --logdir runs
#include <string>
#include <utility>

#include <steptape/steptape.h>
#include <steptape/trainer.h>

#include "command_line.h"
#include "image_loader.h"
#include "on_ranks.h"

#include <torch/torch.h>

namespace {

using example::World;

struct Options {
  std::string data = "data/mnist";
  std::string logDir = "runs/mnist";
  std::int64_t epochs = 1;
  bool verbose = false;
  std::int64_t workers = 0;
};

void train(const Options& options, const World& world) {
  steptape::setThreads({}, *world);
  const auto [trainImages, testImages] = example::onAllRanks(
      *world,
      [&] {
        return std::pair{steptape::loadMnist(options.data, steptape::Split::kTrain),
                         steptape::loadMnist(options.data, steptape::Split::kTest)};
      },
      "Get MNIST on a machine with internet: tools/get_data.sh mnist");
  steptape::DistributedSamplerOptions inOrder;
  inOrder.shuffle = false;
  inOrder.evenShares = false;  // Every test image counts once.
  const auto train =
      example::imageLoader(trainImages, {trainImages.size(), *world}, 64, options.workers);
  steptape::ImageLoader test(testImages, {testImages.size(), *world, inOrder}, 1000);

  torch::manual_seed(1);
  const torch::nn::Sequential model(torch::nn::Flatten(), torch::nn::Linear(28 * 28, 128),
                                    torch::nn::ReLU(), torch::nn::Linear(128, 10),
                                    torch::nn::LogSoftmax(/*dim=*/1));
  torch::optim::SGD optimizer(model->parameters(), torch::optim::SGDOptions(0.05).momentum(0.9));

  steptape::TrainerOptions trainerOptions;
  trainerOptions.epochs = options.epochs;
  trainerOptions.metrics = {steptape::accuracyMetric()};
  trainerOptions.verbose = options.verbose;
  steptape::DistributedWriter writer(options.logDir, world);
  steptape::Trainer trainer(model, optimizer, world, writer, trainerOptions);
  trainer.fit(*train, test);
  writer.close().throwIfError();
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  example::CommandLine line("Trains a network of two layers on MNIST.\n\n  mnist [options]\n");
  line.add("data", options.data, "DIR", "directory of MNIST's four files");
  line.add("log-dir", options.logDir, "DIR", "log directory for TensorBoard");
  line.add("epochs", options.epochs, "N", "passes over the training images", 1);
  line.add("verbose", options.verbose, "print from every rank, with its number");
  line.add("workers", options.workers, "N",
           "threads that read images, on each rank; 0: none, the training thread reads them");
  return example::runOnRanks(argc, argv, line, [&](const World& world) { train(options, world); });
}
