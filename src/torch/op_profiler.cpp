// SPDX-License-Identifier: Apache-2.0
#include "steptape/torch/op_profiler.h"

#include <memory>
#include <optional>
#include <utility>

#include "profile/thread_recorder.h"

#include <ATen/record_function.h>

namespace steptape {
namespace {

ProfileKind kindOf(at::RecordScope scope) {
  switch (scope) {
    case at::RecordScope::BACKWARD_FUNCTION:
      return ProfileKind::kBackward;
    case at::RecordScope::USER_SCOPE:
      return ProfileKind::kUserScope;
    default:
      return ProfileKind::kOperator;
  }
}

/// Carries what began to the thread where it ends: for asynchronous functions only, since it is
/// allocated. Others nest, and wait on a stack of their thread.
struct DetachedSpan : at::ObserverContext {
  explicit DetachedSpan(const ProfileRecord& begun) : record(begun) {}
  ProfileRecord record;
};

std::unique_ptr<at::ObserverContext> beginFunction(const at::RecordFunction& function) {
  const ProfileKind kind = kindOf(function.scope());
  if (function.isAsync()) {
    return std::make_unique<DetachedSpan>(
        detail::beginDetached(kind, function.name(), function.seqNr()));
  }
  detail::beginSpan(kind, function.name(), function.seqNr(), &function);
  return nullptr;
}

void endFunction(const at::RecordFunction& function, at::ObserverContext* context) {
  if (context == nullptr) {
    detail::endSpan(&function);
  } else {
    detail::endDetached(static_cast<DetachedSpan*>(context)->record);
  }
}

at::CallbackHandle addDisabledHook() {
  const at::CallbackHandle handle = at::addGlobalCallback(
      at::RecordFunctionCallback(&beginFunction, &endFunction)
          .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION,
                   at::RecordScope::USER_SCOPE}));
  at::disableCallback(handle);
  return handle;
}

// LibTorch lets a global callback be added "only during the program initialization", which is now,
// and removed while no other code runs, which is never; enabling and disabling is free of that.
const at::CallbackHandle kHook = addDisabledHook();

void switchHook(bool on) {
  if (on) {
    at::reenableCallback(kHook);
  } else {
    at::disableCallback(kHook);
  }
}

}  // namespace

OpProfiler::OpProfiler(OpProfilerOptions options) : Profiler(std::move(options), &switchHook) {}

}  // namespace steptape
