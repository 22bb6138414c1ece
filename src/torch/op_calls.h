// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "torch/graph_draft.h"

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

namespace steptape {

/// One call of an operator.
struct OpCall {
  std::string name;  ///< Such as "aten::conv2d".
  std::chrono::steady_clock::time_point start;
  std::chrono::nanoseconds duration{};
};

/// Times every operator that `pass` calls on this thread, those inside others included, in the
/// order of their starts.
std::vector<OpCall> timedCalls(const std::function<void()>& pass);

/// An operator that is about to run.
struct StartedOp {
  c10::FunctionSchema schema;
  std::vector<c10::IValue> arguments;  ///< One for each of the schema's.
  std::vector<OpenZone> zones;
};

/// Whether an operator writes to what it is given for `argument`.
bool isWritten(const c10::Argument& argument);

/// Receives the operators that a pass calls, one at a time.
class OpListener {
 public:
  virtual void onStart(const StartedOp& op) = 0;
  /// The operator that started last returned `results`. Not called for one that threw.
  virtual void onReturn(const std::vector<c10::IValue>& results) = 0;

 protected:
  ~OpListener() = default;
};

/// Reports to `listener` each operator that `pass` calls on this thread, at the level at which
/// LibTorch's tracer records them: none that another operator calls, except where the tracer looks
/// into that one, and none that neither returns a tensor nor writes to one.
///
/// @throws What `pass` throws, or else the first exception of the listener, which hears of no
///         operator after that.
/// @source ATen/record_function.h, tools/autograd/gen_trace_type.py of LibTorch.
void recordCalls(const std::function<void()>& pass, OpListener* listener);

}  // namespace steptape
