// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "torch/graph_draft.h"
#include "torch/model_tree.h"

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

/// What an operator was called with, and what it returned.
struct RecordedOp {
  std::string name;
  std::vector<std::string> argumentNames;
  std::vector<c10::IValue> arguments;
  std::vector<c10::IValue> results;
  std::vector<OpenZone> zones;
};

/// Tells `sink` of each operator that `pass` calls on this thread, when it has returned; not of
/// those inside others.
///
/// @source ATen/record_function.h of LibTorch.
void recordCalls(const std::function<void()>& pass,
                 const std::function<void(const RecordedOp&)>& sink);

}  // namespace steptape
