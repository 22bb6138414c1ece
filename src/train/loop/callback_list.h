// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/train/trainer_callback.h"

namespace steptape::detail::train {

/// Calls the callbacks of this rank and keeps what they threw.
///
/// Not thread-safe: one thread at a time.
class CallbackList {
 public:
  void add(std::shared_ptr<TrainerCallback> callback) { callbacks_.push_back(std::move(callback)); }
  void add(TrainerEvent event, std::function<void(TrainingContext&)> function);

  bool empty() const { return callbacks_.empty(); }
  /// Returns whether call() may call a callback.
  bool has(TrainerEvent event) const;

  /// Calls each one, unless one has thrown. On several ranks an exception is kept, so that this
  /// rank continues until all ranks learn of it; on a single rank it propagates immediately.
  void call(TrainerEvent event, TrainingContext& context);

  /// Calls TrainerCallback::onException() of each callback, the last one first.
  void callOnException(TrainingContext& context) noexcept;

  void saveState(TrainingProgress& progress) const;
  void loadState(const TrainingProgress& progress);

  bool failed() const { return !failure_.empty(); }
  /// Returns the event and the message of the exception that was kept; empty if there is none.
  const std::string& failure() const { return failure_; }

  /// Returns an error that ends the run, with what a callback of this rank threw before it, which
  /// may be the reason why the ranks no longer match. Clears what was thrown.
  Error explain(const Error& error);

 private:
  std::vector<std::shared_ptr<TrainerCallback>> callbacks_;
  std::string failure_;
};

}  // namespace steptape::detail::train
