// SPDX-License-Identifier: Apache-2.0
#include "libtorch/graph/op_calls.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <unordered_set>
#include <utility>

#include "process/spans/zone_listener.h"

#include <ATen/core/jit_type.h>
#include <ATen/record_function.h>

namespace steptape::detail::libtorch {
namespace {

/// Adds a callback to this thread for its lifetime.
class ThreadCallback {
 public:
  explicit ThreadCallback(at::RecordFunctionCallback callback)
      : handle_(at::addThreadLocalCallback(callback.scopes({at::RecordScope::FUNCTION}))) {}
  ~ThreadCallback() { at::removeCallback(handle_); }
  ThreadCallback(const ThreadCallback&) = delete;
  ThreadCallback& operator=(const ThreadCallback&) = delete;

 private:
  at::CallbackHandle handle_;
};

/// Sets a pointer for its lifetime, because LibTorch's callbacks are plain functions. A callback
/// may follow work to other threads, where the pointer is null.
template <typename T>
class Current {
 public:
  Current(T*& pointer, T* value) : pointer_(pointer), outer_(std::exchange(pointer, value)) {}
  ~Current() { pointer_ = outer_; }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

 private:
  T*& pointer_;
  T* const outer_;
};

thread_local std::vector<OpCall>* currentCalls = nullptr;

struct CallNumber : at::ObserverContext {
  explicit CallNumber(std::size_t call) : number(call) {}
  std::size_t number;
};

std::unique_ptr<at::ObserverContext> beginTimed(const at::RecordFunction& function) {
  if (currentCalls == nullptr) {
    return nullptr;
  }
  auto number = std::make_unique<CallNumber>(currentCalls->size());
  currentCalls->push_back({function.name(), std::chrono::steady_clock::now(), {}});
  return number;
}

void endTimed(const at::RecordFunction&, at::ObserverContext* context) {
  const auto now = std::chrono::steady_clock::now();
  if (currentCalls != nullptr && context != nullptr) {
    OpCall& call = currentCalls->at(static_cast<CallNumber*>(context)->number);
    call.duration = now - call.start;
  }
}

bool holdsTensor(const c10::Type& type) {
  const auto inner = type.containedTypes();
  return type.kind() == c10::TypeKind::TensorType ||
         std::any_of(inner.begin(), inner.end(),
                     [](const auto& each) { return holdsTensor(*each); });
}

/// Returns whether the tracer makes no node of an operator, but of the operators that it calls.
bool isSeenThrough(const c10::FunctionSchema& schema) {
  static const std::unordered_set<std::string> kNames = {
      "aten::_coalesced",       "aten::conv1d",           "aten::conv2d",
      "aten::conv3d",           "aten::conv_transpose1d", "aten::conv_transpose2d",
      "aten::conv_transpose3d", "aten::convolution",      "aten::gru_cell",
      "aten::lstm_cell",        "aten::rnn_relu_cell",    "aten::rnn_tanh_cell"};
  const auto& results = schema.returns();
  const auto& arguments = schema.arguments();
  return kNames.count(schema.name()) != 0 ||
         (std::none_of(results.begin(), results.end(),
                       [](const c10::Argument& each) { return holdsTensor(*each.type()); }) &&
          std::none_of(arguments.begin(), arguments.end(), &isWritten));
}

/// Passes on the operators at the outermost level.
class Recorder final : public process::ZoneListener {
 public:
  explicit Recorder(OpListener* listener) : listener_(listener) {}

  void onZoneBegin(const char* name) noexcept override { zones_.push_back({zoneEntries_++, name}); }
  void onZoneEnd() noexcept override { zones_.pop_back(); }

  /// @return the argument for end(); null for an operator that is skipped.
  std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& function) {
    if (depth_ == 0) {
      // A range that the model named itself has no schema.
      const auto schema = function.operator_schema();
      if (!schema || isSeenThrough(*schema)) {
        return nullptr;
      }
      results_ = schema->returns().size();
      tell([&] {
        const auto inputs = function.inputs();
        listener_->onStart(
            {*schema, std::vector<c10::IValue>(inputs.begin(), inputs.end()), zones_});
      });
    }
    ++depth_;
    return std::make_unique<Counted>();
  }

  void end(const at::RecordFunction& function) {
    // An operator that has thrown has no results.
    if (--depth_ == 0 && function.outputs().size() == results_) {
      tell([&] { listener_->onReturn(function.outputs()); });
    }
  }

  void rethrow() const {
    if (failure_) {
      std::rethrow_exception(failure_);
    }
  }

 private:
  struct Counted : at::ObserverContext {};

  /// Stores exceptions, because LibTorch would log an exception of a callback and continue.
  template <typename Tell>
  void tell(const Tell& what) {
    if (failure_) {
      return;
    }
    try {
      what();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }

  OpListener* const listener_;
  std::size_t depth_ = 0;
  std::size_t results_ = 0;  // number of results of the operator at depth 0
  std::size_t zoneEntries_ = 0;
  std::vector<OpenZone> zones_;
  std::exception_ptr failure_;
};

thread_local Recorder* currentRecorder = nullptr;

std::unique_ptr<at::ObserverContext> beginRecorded(const at::RecordFunction& function) {
  return currentRecorder == nullptr ? nullptr : currentRecorder->begin(function);
}

void endRecorded(const at::RecordFunction& function, at::ObserverContext* context) {
  if (currentRecorder != nullptr && context != nullptr) {
    currentRecorder->end(function);
  }
}

}  // namespace

std::vector<OpCall> timedCalls(const std::function<void()>& pass) {
  std::vector<OpCall> calls;
  const Current<std::vector<OpCall>> current(currentCalls, &calls);
  const ThreadCallback callback(at::RecordFunctionCallback(&beginTimed, &endTimed));
  pass();
  return calls;
}

bool isWritten(const c10::Argument& argument) {
  return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
}

void recordCalls(const std::function<void()>& pass, OpListener* listener) {
  Recorder recorder(listener);
  {
    const Current<Recorder> current(currentRecorder, &recorder);
    const process::ListenToZones listening(&recorder);
    const at::RecordFunctionGuard enabled;
    const ThreadCallback callback(at::RecordFunctionCallback(&beginRecorded, &endRecorded)
                                      .needsInputs(true)
                                      .needsOutputs(true));
    pass();
  }
  recorder.rethrow();
}

}  // namespace steptape::detail::libtorch
