// SPDX-License-Identifier: Apache-2.0
#include "train/loop/callback_list.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace steptape::detail::train {
namespace {

using Function = std::function<void(TrainingContext&)>;

/// The function of a callback for one event.
class FunctionCallback final : public TrainerCallback {
 public:
  FunctionCallback(TrainerEvent event, Function function)
      : event_(event), function_(std::move(function)) {}

  TrainerEvent event() const { return event_; }

  void beforeFit(TrainingContext& context) override { at(TrainerEvent::kBeforeFit, context); }
  void afterFit(TrainingContext& context) override { at(TrainerEvent::kAfterFit, context); }
  void beforeEpoch(TrainingContext& context) override { at(TrainerEvent::kBeforeEpoch, context); }
  void afterEpoch(TrainingContext& context) override { at(TrainerEvent::kAfterEpoch, context); }
  void beforeBatch(TrainingContext& context) override { at(TrainerEvent::kBeforeBatch, context); }
  void afterBatch(TrainingContext& context) override { at(TrainerEvent::kAfterBatch, context); }
  void afterStep(TrainingContext& context) override { at(TrainerEvent::kAfterStep, context); }
  void beforeEvaluation(TrainingContext& context) override {
    at(TrainerEvent::kBeforeEvaluation, context);
  }
  void afterEvaluation(TrainingContext& context) override {
    at(TrainerEvent::kAfterEvaluation, context);
  }

 private:
  void at(TrainerEvent event, TrainingContext& context) {
    if (event == event_) {
      function_(context);
    }
  }

  TrainerEvent event_;
  Function function_;
};

bool mayBeCalledAt(const TrainerCallback& callback, TrainerEvent event) {
  const auto* const function = dynamic_cast<const FunctionCallback*>(&callback);
  return function == nullptr || function->event() == event;
}

void dispatch(TrainerCallback& callback, TrainerEvent event, TrainingContext& context) {
  switch (event) {
    case TrainerEvent::kBeforeFit:
      return callback.beforeFit(context);
    case TrainerEvent::kAfterFit:
      return callback.afterFit(context);
    case TrainerEvent::kBeforeEpoch:
      return callback.beforeEpoch(context);
    case TrainerEvent::kAfterEpoch:
      return callback.afterEpoch(context);
    case TrainerEvent::kBeforeBatch:
      return callback.beforeBatch(context);
    case TrainerEvent::kAfterBatch:
      return callback.afterBatch(context);
    case TrainerEvent::kAfterStep:
      return callback.afterStep(context);
    case TrainerEvent::kBeforeEvaluation:
      return callback.beforeEvaluation(context);
    case TrainerEvent::kAfterEvaluation:
      return callback.afterEvaluation(context);
  }
}

/// Such as "afterBatch at step 12: disk quota exceeded".
std::string failureText(TrainerEvent event, const TrainingContext& context, const char* what) {
  return std::string(trainerEventName(event)) + " at step " + std::to_string(context.step) + ": " +
         what;
}

}  // namespace

void CallbackList::add(TrainerEvent event, Function function) {
  add(std::make_shared<FunctionCallback>(event, std::move(function)));
}

bool CallbackList::has(TrainerEvent event) const {
  return std::any_of(callbacks_.begin(), callbacks_.end(),
                     [event](const auto& callback) { return mayBeCalledAt(*callback, event); });
}

void CallbackList::call(TrainerEvent event, TrainingContext& context) {
  if (failed()) {
    return;
  }
  for (const std::shared_ptr<TrainerCallback>& callback : callbacks_) {
    if (context.world.size() == 1) {
      dispatch(*callback, event, context);
      continue;
    }
    try {
      dispatch(*callback, event, context);
    } catch (const std::exception& error) {
      failure_ = failureText(event, context, error.what());
      return;
    } catch (...) {
      failure_ = failureText(event, context, "an exception that is no std::exception");
      return;
    }
  }
}

void CallbackList::callOnException(TrainingContext& context) noexcept {
  for (auto callback = callbacks_.rbegin(); callback != callbacks_.rend(); ++callback) {
    (*callback)->onException(context);
  }
}

void CallbackList::saveState(TrainingProgress& progress) const {
  for (const std::shared_ptr<TrainerCallback>& callback : callbacks_) {
    callback->saveState(progress);
  }
}

void CallbackList::loadState(const TrainingProgress& progress) {
  for (const std::shared_ptr<TrainerCallback>& callback : callbacks_) {
    callback->loadState(progress);
  }
}

Error CallbackList::explain(const Error& error) {
  const std::string thrown = std::exchange(failure_, {});
  const std::string what = error.what();
  if (thrown.empty() || what.find(thrown) != std::string::npos) {
    return error;
  }
  return {error.code(), "Trainer: " + thrown + "; then " + what};
}

}  // namespace steptape::detail::train
