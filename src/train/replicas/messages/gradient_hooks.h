// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "train/replicas/gradients/gradient_slots.h"

namespace steptape::detail::train {

/// Reports during backward() which gradients are ready.
///
/// @threads Not thread-safe: construct and destroy it on one thread, not while backward() runs. The
///          listener is called on the threads of backward(), one call at a time.
class GradientHooks {
 public:
  /// Receives the index of a slot right after backward() has added to its parameter's `.grad`. Its
  /// exceptions end backward() and reach the caller.
  using Listener = std::function<void(std::size_t slot)>;

  GradientHooks(const std::vector<GradientSlot>& slots, Listener listener);
  GradientHooks(const GradientHooks&) = delete;
  GradientHooks& operator=(const GradientHooks&) = delete;
  /// Removes the hooks.
  ~GradientHooks();

 private:
  class Impl;

  std::unique_ptr<Impl> impl_;
};

}  // namespace steptape::detail::train
