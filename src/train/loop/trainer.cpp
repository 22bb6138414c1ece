// SPDX-License-Identifier: Apache-2.0
#include "steptape/train/trainer.h"

#include <algorithm>
#include <string>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/train/recipe.h"

#include "process/blackbox/state_page.h"
#include "train/loop/training_run.h"

namespace steptape {
namespace {

void checkOptions(const TrainerOptions& options) {
  if (options.scaleLearningRate && options.learningRate) {
    throw Error(ErrorCode::kInvalidArgument,
                "Trainer: got scaleLearningRate together with a schedule; expected "
                "LearningRateScheduleOptions::scale");
  }
  const std::vector<int>& stops = options.stopSignals;
  const int profiles = options.profileTrigger.signal;
  if (std::find(stops.begin(), stops.end(), profiles) != stops.end()) {
    throw Error(ErrorCode::kInvalidArgument,
                "Trainer: got the signal " + std::to_string(profiles) +
                    " in both profileTrigger and stopSignals; expected different signals");
  }
}

}  // namespace

class Trainer::Impl {
 public:
  explicit Impl(detail::train::TrainerParts ofTrainer) : parts(std::move(ofTrainer)) {}

  detail::train::TrainerParts parts;
};

Trainer::Trainer(std::shared_ptr<torch::nn::Module> module,
                 std::function<at::Tensor(const at::Tensor&)> forward,
                 torch::optim::Optimizer& optimizer, std::shared_ptr<Communicator> world,
                 DistributedWriter& writer, TrainerOptions options)
    : impl_(std::make_unique<Impl>(detail::train::TrainerParts{std::move(module),
                                                               std::move(forward),
                                                               optimizer,
                                                               std::move(world),
                                                               writer,
                                                               std::move(options),
                                                               {},
                                                               {}})) {
  detail::train::TrainerParts& parts = impl_->parts;
  checkOptions(parts.options);
  detail::process::StatePage::keep();
  if (detail::process::StatePage* const page = detail::process::StatePage::current()) {
    page->noteRank(parts.world->rank(), parts.world->size(), parts.world->localRank());
  }
  if (parts.options.scaleLearningRate) {
    scaleLearningRate(optimizer, parts.world->size());
  }
  if (parts.options.learningRate) {
    parts.schedule.emplace(optimizer, *parts.options.learningRate);
  }
  if (parts.options.allowTf32) {
    allowTf32(*parts.options.allowTf32);
  }
  if (parts.options.useDevices) {
    parts.module->to(deviceForLocalRank(*parts.world));
  }
}

Trainer::~Trainer() = default;

void Trainer::add(std::shared_ptr<TrainerCallback> callback) {
  impl_->parts.callbacks.add(std::move(callback));
}

void Trainer::on(TrainerEvent event, std::function<void(TrainingContext&)> function) {
  impl_->parts.callbacks.add(event, std::move(function));
}

TrainingResult Trainer::fit(BatchLoaderRef train, BatchLoaderRef test) {
  try {
    return detail::train::TrainingRun(impl_->parts, *train, *test).run();
  } catch (const Error& error) {
    throw impl_->parts.callbacks.explain(error);
  }
}

}  // namespace steptape
