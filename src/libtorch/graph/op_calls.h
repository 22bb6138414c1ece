// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "libtorch/graph/graph_draft.h"

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

namespace steptape::detail::libtorch {

/// One call of an operator.
struct OpCall {
  std::string name;  ///< Such as "aten::conv2d".
  std::chrono::steady_clock::time_point start;
  std::chrono::nanoseconds duration{};
};

/// Times every operator that `pass` calls on this thread, including nested ones, in the order of
/// their starts.
std::vector<OpCall> timedCalls(const std::function<void()>& pass);

/// An operator that is about to run.
struct StartedOp {
  c10::FunctionSchema schema;
  std::vector<c10::IValue> arguments;  ///< One for each argument of the schema.
  std::vector<OpenZone> zones;
};

/// Returns whether an operator writes to its `argument`.
bool isWritten(const c10::Argument& argument);

/// Receives the operators that a pass calls, one at a time.
class OpListener {
 public:
  virtual void onStart(const StartedOp& op) = 0;
  /// Called when the operator that started last has returned `results`. Not called if it threw.
  virtual void onReturn(const std::vector<c10::IValue>& results) = 0;

 protected:
  ~OpListener() = default;
};

/// Reports to `listener` each operator that `pass` calls on this thread, at the level at which
/// LibTorch's tracer records them, as graphs of PyTorch show them. Skips operators called by other
/// operators, unless the tracer looks into those, and operators that neither return a tensor nor
/// write to one.
///
/// @throws exceptions of `pass`, or else the first exception of the listener, which then receives
///         no more operators.
/// @source ATen/record_function.h, tools/autograd/gen_trace_type.py of LibTorch.
void recordCalls(const std::function<void()>& pass, OpListener* listener);

}  // namespace steptape::detail::libtorch
