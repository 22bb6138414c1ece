// SPDX-License-Identifier: Apache-2.0
#include "training_step.h"

#include <steptape/trainer.h>

namespace example {
namespace {

using steptape::StepPart;

steptape::GradientSyncOptions syncOptions(const BenchmarkOptions& options) {
  steptape::GradientSyncOptions sync;
  if (options.fp16Allreduce) {
    sync.compression = steptape::Compression::kFp16;
  }
  return sync;
}

}  // namespace

void waitForDevice(const torch::Tensor& tensor) {
  if (tensor.is_cuda()) {
    torch::cuda::synchronize();
  }
}

TrainingStep::TrainingStep(BenchmarkTask& task, const BenchmarkOptions& options, const World& world)
    : task_(task),
      optimizer_(task.network.ptr()->parameters(), torch::optim::SGDOptions(0.01).momentum(0.9)),
      sync_(task.network.ptr()->named_parameters(), world, syncOptions(options)) {
  steptape::broadcastParameters(*task.network.ptr(), *world);
}

steptape::StepTimes::Nanos TrainingStep::run(bool synchronize) {
  const auto endPart = [&] {
    if (synchronize) {
      waitForDevice(loss_);
    }
  };
  steptape::Batch batch;
  {
    const auto timer = times_.time(StepPart::kInput);
    batch = task_.nextBatch();
  }
  {
    const auto timer = times_.time(StepPart::kForward);
    loss_ = task_.loss(task_.network.forward(batch.inputs), batch.targets);
    endPart();
  }
  {
    const auto timer = times_.time(StepPart::kBackward);
    optimizer_.zero_grad();
    loss_.backward();
    countWaiting();  // For buckets that were exchanged during backward().
    endPart();
  }
  {
    const auto timer = times_.time(StepPart::kOptimizer);
    sync_.step(optimizer_);
    countWaiting();
    endPart();
  }
  loss_ = loss_.detach();
  return times_.take();
}

void TrainingStep::countWaiting() {
  const double waited = sync_.stats().waitSeconds;
  times_.add(StepPart::kWait, waited - waited_);
  waited_ = waited;
}

}  // namespace example
