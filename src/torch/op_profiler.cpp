// SPDX-License-Identifier: Apache-2.0
#include "steptape/torch/op_profiler.h"

#include <memory>
#include <optional>
#include <utility>

#include "recorder/thread_recorder.h"

#include <ATen/record_function.h>

namespace steptape {
namespace {

SpanKind kindOf(at::RecordScope scope) {
  switch (scope) {
    case at::RecordScope::BACKWARD_FUNCTION:
      return SpanKind::kBackward;
    case at::RecordScope::USER_SCOPE:
      return SpanKind::kUserScope;
    default:
      return SpanKind::kOperator;
  }
}

/// Carries what began to the thread where it ends: for asynchronous functions only, since it is
/// allocated. Others nest, and wait on a stack of their thread.
struct DetachedSpan : at::ObserverContext {
  explicit DetachedSpan(const SpanRecord& begun) : record(begun) {}
  SpanRecord record;
};

std::unique_ptr<at::ObserverContext> beginFunction(const at::RecordFunction& function) {
  const SpanKind kind = kindOf(function.scope());
  const std::uint64_t payload = SpanRecord::payloadOf(function.seqNr(), 0);
  if (function.isAsync()) {
    return std::make_unique<DetachedSpan>(detail::beginDetached(kind, function.name(), payload));
  }
  detail::beginSpan(kind, function.name(), 0, payload, &function);
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
