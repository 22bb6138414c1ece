// SPDX-License-Identifier: Apache-2.0
#include "torch/op_calls.h"

#include <exception>
#include <memory>
#include <utility>

#include "span/zone_listener.h"

#include <ATen/core/function_schema.h>
#include <ATen/record_function.h>

namespace steptape {
namespace {

/// A callback of this thread, as long as it lives.
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

/// Sets a pointer for as long as it lives: LibTorch's callbacks are plain functions. Such a
/// callback may follow work to other threads, where the pointer is null.
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

/// Hands on the outermost operators.
class Recorder final : public detail::ZoneListener {
 public:
  explicit Recorder(const std::function<void(const RecordedOp&)>& sink) : sink_(sink) {}

  void onZoneBegin(const char* name) noexcept override { zones_.push_back({zoneEntries_++, name}); }
  void onZoneEnd() noexcept override { zones_.pop_back(); }

  void begin(const at::RecordFunction& function) {
    if (depth_++ != 0) {
      return;
    }
    op_ = RecordedOp();
    op_.name = function.name();
    op_.zones = zones_;
    if (const auto schema = function.operator_schema()) {
      for (const c10::Argument& argument : schema->arguments()) {
        op_.argumentNames.push_back(argument.name());
      }
    }
    op_.arguments.assign(function.inputs().begin(), function.inputs().end());
  }

  void end(const at::RecordFunction& function) {
    if (--depth_ == 0) {
      op_.results = function.outputs();
      // LibTorch would log an exception of a callback and go on.
      try {
        sink_(op_);
      } catch (...) {
        failure_ = std::current_exception();
      }
      op_ = RecordedOp();
    }
  }

  void rethrow() const {
    if (failure_) {
      std::rethrow_exception(failure_);
    }
  }

 private:
  const std::function<void(const RecordedOp&)>& sink_;
  std::size_t depth_ = 0;
  std::size_t zoneEntries_ = 0;
  std::vector<OpenZone> zones_;
  RecordedOp op_;
  std::exception_ptr failure_;
};

thread_local Recorder* currentRecorder = nullptr;

std::unique_ptr<at::ObserverContext> beginRecorded(const at::RecordFunction& function) {
  if (currentRecorder != nullptr) {
    currentRecorder->begin(function);
  }
  return nullptr;
}

void endRecorded(const at::RecordFunction& function, at::ObserverContext*) {
  if (currentRecorder != nullptr) {
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

void recordCalls(const std::function<void()>& pass,
                 const std::function<void(const RecordedOp&)>& sink) {
  Recorder recorder(sink);
  {
    const Current<Recorder> current(currentRecorder, &recorder);
    const detail::ListenToZones listening(&recorder);
    const ThreadCallback callback(at::RecordFunctionCallback(&beginRecorded, &endRecorded)
                                      .needsInputs(true)
                                      .needsOutputs(true));
    pass();
  }
  recorder.rethrow();
}

}  // namespace steptape
