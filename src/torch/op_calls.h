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

/// Hears of the operators that a pass calls, of none while another one runs.
class OpListener {
 public:
  virtual void onStart(const StartedOp& op) = 0;
  /// The operator that started last has returned `results`. Not called if it threw.
  virtual void onReturn(const std::vector<c10::IValue>& results) = 0;

 protected:
  ~OpListener() = default;
};

/// Tells `listener` of each operator that `pass` calls on this thread, as LibTorch's tracer would
/// record them: not of those inside another one, except for operators that the tracer looks into;
/// not of those that neither return nor write to a tensor; not of those that make constants.
///
/// @throws What `pass` or the listener throws; the listener hears of no further operator then.
/// @source ATen/record_function.h, tools/autograd/gen_trace_type.py of LibTorch.
void recordCalls(const std::function<void()>& pass, OpListener* listener);

}  // namespace steptape
