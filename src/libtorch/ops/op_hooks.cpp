// SPDX-License-Identifier: Apache-2.0
#include "libtorch/ops/op_hooks.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <unordered_set>
#include <vector>

#include "steptape/base/clock.h"

#include "libtorch/ops/call_details.h"
#include "libtorch/ops/device_timer.h"
#include "libtorch/ops/schema_names.h"
#include "process/spans/thread_recorder.h"

#include <ATen/record_function.h>

namespace steptape::detail::libtorch {
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

/// Transfers a started span to the thread on which it ends. Used only for asynchronous functions,
/// because it is allocated. Other spans nest, and are on a stack of their thread.
struct DetachedSpan : at::ObserverContext {
  explicit DetachedSpan(const SpanRecord& begun) : record(begun) {}
  SpanRecord record;
};

/// Records the requested data of a call.
template <bool kWithDetails, bool kWithDevices>
struct CallRecorder {
  const at::RecordFunction& function;
  const char* name;
  process::ThreadRecorder& recorder;

  std::uint64_t payload(SpanKind kind, std::uint16_t nameId) const {
    std::uint32_t detailsId = 0;
    if constexpr (kWithDetails) {
      if (kind == SpanKind::kOperator) {
        detailsId = callDetails(name, nameId, function.inputs());
      }
    }
    return SpanRecord::payloadOf(function.seqNr(), detailsId);
  }

  void begin(SpanKind kind, std::uint16_t nameId, std::uint64_t thread) const {
    const std::uint64_t known = payload(kind, nameId);
    if (nameId != 0) {
      recorder.begin(kind, nameId, static_cast<std::uint16_t>(thread), known, &function);
    }
    if constexpr (kWithDevices) {
      const std::uint64_t onDevice = known | SpanRecord::kNoPayload;
      DeviceTimer::instance().begin(&function, recorder.names().idOf(SpanKind::kDevice, name),
                                    onDevice, function.inputs());
    }
  }

  /// For a function that is not an operator of the dispatcher. A separate function, so that the
  /// path of every operator stays short.
  __attribute__((noinline)) std::unique_ptr<at::ObserverContext> beginByName() const {
    const SpanKind kind = kindOf(function.scope());
    const std::uint16_t nameId = recorder.names().idOf(kind, name);
    if (function.isAsync()) {
      return std::make_unique<DetachedSpan>(
          process::beginDetached(kind, name, payload(kind, nameId)));
    }
    begin(kind, nameId,
          kind == SpanKind::kBackward ? function.forwardThreadId() : function.threadId());
    return nullptr;
  }
};

template <bool kWithDetails, bool kWithDevices>
std::unique_ptr<at::ObserverContext> beginFunction(const at::RecordFunction& function) {
  process::ThreadRecorder* const recorder = process::recorderForNow();
  if (recorder == nullptr) {
    return nullptr;
  }
  const char* const name = function.name();
  const CallRecorder<kWithDetails, kWithDevices> call{function, name, *recorder};
  const std::uint16_t nameId = schemaSpanName(name);
  if (nameId == 0 || function.scope() != at::RecordScope::FUNCTION) {
    return call.beginByName();
  }
  call.begin(SpanKind::kOperator, nameId, function.threadId());
  return nullptr;
}

template <bool kWithDevices>
void endFunction(const at::RecordFunction& function, at::ObserverContext* context) {
  if (context != nullptr) {
    process::endDetached(static_cast<DetachedSpan*>(context)->record);
    return;
  }
  process::endSpan(&function);
  if constexpr (kWithDevices) {
    DeviceTimer::instance().end(&function);
  }
}

}  // namespace

class OpHook {
 public:
  explicit OpHook(const OpHookChoice& choice) : choice_(choice), handle_(addDisabled(choice)) {}

  bool is(const OpHookChoice& choice) const {
    return choice.operators == choice_.operators && choice.details == choice_.details &&
           choice.devices == choice_.devices && choice.sampling == choice_.sampling;
  }
  /// One of the scopes that are recorded.
  at::RecordScope scope() const {
    return choice_.operators ? at::RecordScope::FUNCTION : at::RecordScope::USER_SCOPE;
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
    std::unordered_set<at::RecordScope, std::hash<at::RecordScope>> scopes = {
        at::RecordScope::USER_SCOPE};
    if (choice.operators) {
      scopes.insert({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION});
    }
    const at::CallbackHandle handle =
        at::addGlobalCallback(callback(choice)
                                  .needsInputs(choice.details || choice.devices)
                                  .samplingProb(1.0 / choice.sampling)
                                  .scopes(scopes));
    at::disableCallback(handle);
    return handle;
  }

  OpHookChoice choice_;
  at::CallbackHandle handle_;
};

namespace {

std::vector<OpHook> addHooks() {
  std::vector<OpHook> hooks;
  hooks.emplace_back(OpHookChoice{false, false, false, 1});
  for (const int sampling : {1, 10, 100, 1000}) {
    for (const bool details : {false, true}) {
      for (const bool devices : {false, true}) {
        hooks.emplace_back(OpHookChoice{true, details, devices, sampling});
      }
    }
  }
  return hooks;
}

// LibTorch allows adding a global callback "only during the program initialization", which is now,
// and removing it only while no other code runs, which is never. Enabling and disabling is always
// allowed. A callback's probability is fixed when it is added.
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
  const auto timeCalls = [scope = hook.scope()] {
    const std::uint64_t start = readTicks();
    for (int i = 0; i < kCalls; ++i) {
      at::RecordFunction function(scope);
      if (function.isActive()) {
        function.before("steptape::measureOpHook", -1);
      }
    }
    return static_cast<double>(readTicks() - start) * TickConverter::nanosPerTick() / kCalls;
  };
  timeCalls();  // excludes one-time costs from the measurement
  const double enabled = timeCalls();
  disableOpHook(hook);
  const double disabled = timeCalls();
  enableOpHook(hook);
  return std::max(0.0, enabled - disabled);
}

}  // namespace steptape::detail::libtorch
