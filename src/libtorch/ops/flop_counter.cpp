// SPDX-License-Identifier: Apache-2.0
#include <atomic>

#include "steptape/libtorch/op_profiler.h"

#include "libtorch/ops/call_flops.h"

#include <ATen/record_function.h>
#include <c10/util/ThreadLocalDebugInfo.h>

namespace steptape {
namespace {

/// LibTorch takes it along to the threads on which autograd runs operators. There several of them
/// may add at a time.
struct Count : c10::DebugInfoBase {
  std::atomic<std::int64_t> flops{0};
};

/// Training has no use for the slot that LibTorch names so.
c10::DebugInfoKind slot() {
  return c10::DebugInfoKind::INFERENCE_CONTEXT;
}

Count* currentCount() {
  return static_cast<Count*>(c10::ThreadLocalDebugInfo::get(slot()));
}

std::unique_ptr<at::ObserverContext> countCall(const at::RecordFunction& function) {
  if (Count* const count = currentCount()) {
    count->flops +=
        static_cast<std::int64_t>(detail::libtorch::callFlops(function.name(), function.inputs()));
  }
  return nullptr;
}

}  // namespace

class FlopCounter::Impl {
 public:
  Impl() : outer_(currentCount()), count_(std::make_shared<Count>()), guard_(slot(), count_) {
    if (outer_ == nullptr) {  // Otherwise the outer counter's callback serves both.
      handle_ = at::addThreadLocalCallback(at::RecordFunctionCallback(&countCall)
                                               .needsInputs(true)
                                               .scopes({at::RecordScope::FUNCTION}));
    }
  }
  ~Impl() {
    if (outer_ == nullptr) {
      at::removeCallback(handle_);
    } else {
      outer_->flops += count_->flops;
    }
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  std::int64_t flops() const { return count_->flops; }

 private:
  Count* outer_;
  std::shared_ptr<Count> count_;
  c10::DebugInfoGuard guard_;
  at::CallbackHandle handle_ = 0;
};

FlopCounter::FlopCounter() : impl_(std::make_unique<Impl>()) {}

FlopCounter::~FlopCounter() = default;

std::int64_t FlopCounter::flops() const {
  return impl_->flops();
}

}  // namespace steptape
