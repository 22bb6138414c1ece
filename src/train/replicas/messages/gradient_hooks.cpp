// SPDX-License-Identifier: Apache-2.0
#include "train/replicas/messages/gradient_hooks.h"

#include <cstdint>
#include <utility>

#include "base/mutex.h"

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

namespace steptape::detail::train {
namespace {

using torch::autograd::FunctionPostHook;
using torch::autograd::variable_list;

// A shared_ptr in LibTorch 1.13, an intrusive_ptr since 2.13.
using Accumulator =
    decltype(torch::autograd::impl::grad_accumulator(std::declval<const at::Tensor&>()));

}  // namespace

class GradientHooks::Impl {
 public:
  Impl(const std::vector<GradientSlot>& slots, Listener listener) : listener_(std::move(listener)) {
    for (std::size_t slot = 0; slot < slots.size(); ++slot) {
      Accumulator accumulator = torch::autograd::impl::grad_accumulator(slots[slot].parameter);
      const std::uintptr_t key = accumulator->add_post_hook(std::make_unique<Hook>(*this, slot));
      hooks_.push_back({std::move(accumulator), key});
    }
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    for (const Hooked& hooked : hooks_) {
      hooked.accumulator->del_post_hook(hooked.key);
    }
  }

 private:
  class Hook final : public FunctionPostHook {
   public:
    Hook(Impl& hooks, std::size_t slot) : hooks_(hooks), slot_(slot) {}

    variable_list operator()(const variable_list& outputs,
                             const variable_list& /*inputs*/) override {
      // Gradients of several devices become ready on one thread per device.
      const base::MutexLock lock(hooks_.mutex_);
      hooks_.listener_(slot_);
      return outputs;
    }

   private:
    Impl& hooks_;
    std::size_t slot_;
  };

  struct Hooked {
    Accumulator accumulator;  // autograd keeps it only as long as a graph uses it
    std::uintptr_t key;
  };

  base::Mutex mutex_;
  Listener listener_;
  std::vector<Hooked> hooks_;
};

GradientHooks::GradientHooks(const std::vector<GradientSlot>& slots, Listener listener)
    : impl_(std::make_unique<Impl>(slots, std::move(listener))) {}

GradientHooks::~GradientHooks() = default;

}  // namespace steptape::detail::train
