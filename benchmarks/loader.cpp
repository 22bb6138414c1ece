// SPDX-License-Identifier: Apache-2.0
// Reads a folder of images as training does, and prints how long the training thread waited for
// them. benchmarks/loader.py runs it next to PyTorch's DataLoader.
//
//   loader_benchmark FOLDER WORKERS BATCH_SIZE STEP
//
// STEP is what a training step does with a batch: "none", "resnet50" (forward and backward on one
// thread), or a number of milliseconds that a device would compute while the thread sleeps.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <thread>

#include <steptape/images.h>
#include <steptape/trainer.h>

#include "../examples/common/resnet.h"

#include <torch/torch.h>

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::function<void(const steptape::Batch&)> stepOf(const std::string& name) {
  if (name == "none") {
    return [](const steptape::Batch&) {};
  }
  if (name == "resnet50") {
    return
        [model = example::ResNet(example::resnet50(1000))](const steptape::Batch& batch) mutable {
          torch::cross_entropy_loss(model->forward(batch.inputs), batch.targets).backward();
        };
  }
  const std::chrono::milliseconds time(std::atoll(name.c_str()));
  return [time](const steptape::Batch&) { std::this_thread::sleep_for(time); };
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: loader_benchmark FOLDER WORKERS BATCH_SIZE STEP\n";
    return 2;
  }
  torch::set_num_threads(1);
  const auto step = stepOf(argv[4]);
  const auto source = std::make_shared<steptape::ImageFolderSource>(
      steptape::ImageFolder(argv[1]), steptape::ImageTransforms{steptape::RandomResizedCrop{224},
                                                                steptape::RandomHorizontalFlip{}});
  const steptape::Communicator world;
  steptape::PrefetchLoaderOptions options;
  options.workers = std::atoll(argv[2]);
  options.prefetch = 4;  // As many as two workers of a DataLoader.
  steptape::PrefetchLoader loader(source, {source->size(), world}, std::atoll(argv[3]), options);

  const auto start = Clock::now();
  double waited = 0;
  double first = 0;
  loader.startEpoch(0);
  for (steptape::Batch batch;;) {
    const auto before = Clock::now();
    if (!loader.next(batch)) {
      break;
    }
    waited += secondsSince(before);
    first = first > 0 ? first : waited;
    step(batch);
  }
  std::cout << "{\"images\": " << source->size() << ", \"seconds\": " << secondsSince(start)
            << ", \"wait_seconds\": " << waited << ", \"first_batch_seconds\": " << first << "}\n";
}
