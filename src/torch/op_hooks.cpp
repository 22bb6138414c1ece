// SPDX-License-Identifier: Apache-2.0
#include "torch/op_hooks.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "steptape/base/clock.h"

#include "recorder/thread_recorder.h"
#include "torch/call_details.h"
#include "torch/device_timer.h"
#include "torch/schema_names.h"

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

template <bool kWithDetails, bool kWithDevices>
std::unique_ptr<at::ObserverContext> beginFunction(const at::RecordFunction& function) {
  detail::ThreadRecorder* const recorder = detail::recorderForNow();
  if (recorder == nullptr) {
    return nullptr;
  }
  const SpanKind kind = kindOf(function.scope());
  const char* const name = function.name();
  std::uint16_t nameId = kind == SpanKind::kOperator ? schemaSpanName(name) : std::uint16_t{0};
  if (nameId == 0) {
    nameId = recorder->names().idOf(kind, name);
  }
  std::uint32_t detailsId = 0;
  if constexpr (kWithDetails) {
    if (kind == SpanKind::kOperator) {
      detailsId = callDetails(name, nameId, function.inputs());
    }
  }
  const std::uint64_t payload = SpanRecord::payloadOf(function.seqNr(), detailsId);
  if (function.isAsync()) {
    return std::make_unique<DetachedSpan>(detail::beginDetached(kind, name, payload));
  }
  const std::uint64_t thread =
      kind == SpanKind::kBackward ? function.forwardThreadId() : function.threadId();
  if (nameId != 0) {
    recorder->begin(kind, nameId, static_cast<std::uint16_t>(thread), payload, &function);
  }
  if constexpr (kWithDevices) {
    DeviceTimer::instance().begin(&function, recorder->names().idOf(SpanKind::kDevice, name),
                                  SpanRecord::payloadOf(-1, detailsId), function.inputs());
  }
  return nullptr;
}

template <bool kWithDevices>
void endFunction(const at::RecordFunction& function, at::ObserverContext* context) {
  if (context != nullptr) {
    detail::endDetached(static_cast<DetachedSpan*>(context)->record);
    return;
  }
  detail::endSpan(&function);
  if constexpr (kWithDevices) {
    DeviceTimer::instance().end(&function);
  }
}

}  // namespace

class OpHook {
 public:
  explicit OpHook(const OpHookChoice& choice) : choice_(choice), handle_(addDisabled(choice)) {}

  bool is(const OpHookChoice& choice) const {
    return choice.details == choice_.details && choice.devices == choice_.devices &&
           choice.sampling == choice_.sampling;
  }
  at::CallbackHandle handle() const { return handle_; }

 private:
  static at::RecordFunctionCallback callback(const OpHookChoice& choice) {
    if (choice.devices) {
      return at::RecordFunctionCallback(
          choice.details ? &beginFunction<true, true> : &beginFunction<false, true>,
          &endFunction<true>);
    }
    return at::RecordFunctionCallback(
        choice.details ? &beginFunction<true, false> : &beginFunction<false, false>,
        &endFunction<false>);
  }

  static at::CallbackHandle addDisabled(const OpHookChoice& choice) {
    const at::CallbackHandle handle = at::addGlobalCallback(
        callback(choice)
            .needsInputs(choice.details || choice.devices)
            .samplingProb(1.0 / choice.sampling)
            .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION,
                     at::RecordScope::USER_SCOPE}));
    at::disableCallback(handle);
    return handle;
  }

  OpHookChoice choice_;
  at::CallbackHandle handle_;
};

namespace {

std::vector<OpHook> addHooks() {
  std::vector<OpHook> hooks;
  for (const int sampling : {1, 10, 100, 1000}) {
    for (const bool details : {false, true}) {
      for (const bool devices : {false, true}) {
        hooks.emplace_back(OpHookChoice{details, devices, sampling});
      }
    }
  }
  return hooks;
}

// LibTorch lets a global callback be added "only during the program initialization", which is now,
// and removed while no other code runs, which is never; enabling and disabling is free of that. A
// callback's probability is fixed when it is added.
const std::vector<OpHook> kHooks = addHooks();

}  // namespace

const OpHook* opHook(const OpHookChoice& choice) {
  for (const OpHook& hook : kHooks) {
    if (hook.is(choice)) {
      return &hook;
    }
  }
  return nullptr;
}

void enableOpHook(const OpHook& hook) {
  at::reenableCallback(hook.handle());
}

void disableOpHook(const OpHook& hook) noexcept {
  at::disableCallback(hook.handle());
}

double measureOpHook(const OpHook& hook) {
  constexpr int kCalls = 1000;
  const auto timeCalls = [] {
    const std::uint64_t start = readTicks();
    for (int i = 0; i < kCalls; ++i) {
      at::RecordFunction function(at::RecordScope::FUNCTION);
      if (function.isActive()) {
        function.before("steptape::measureOpHook", -1);
      }
    }
    return static_cast<double>(readTicks() - start) * TickConverter::nanosPerTick() / kCalls;
  };
  timeCalls();  // pays for what happens the first time only
  const double enabled = timeCalls();
  disableOpHook(hook);
  const double disabled = timeCalls();
  enableOpHook(hook);
  return std::max(0.0, enabled - disabled);
}

}  // namespace steptape
