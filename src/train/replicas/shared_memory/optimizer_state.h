// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/optimizer.h>
#include <torch/optim/sgd.h>

namespace steptape::detail::train {

// Uniform access to the state that LibTorch's optimizers keep per parameter: a few tensors of the
// parameter's shape and a number of steps.

/// Returns the key of a parameter's state: its address, which LibTorch 1.13 writes as text.
inline auto stateKey(const torch::optim::Optimizer& optimizer, const at::Tensor& parameter) {
  using Key = typename std::decay_t<decltype(optimizer.state())>::key_type;
  void* const address = parameter.unsafeGetTensorImpl();
  if constexpr (std::is_same_v<Key, std::string>) {
    std::ostringstream text;
    text << address;
    return text.str();
  } else {
    return address;
  }
}

/// Returns null if the optimizer has made no step with the parameter.
inline torch::optim::OptimizerParamState* findState(const torch::optim::Optimizer& optimizer,
                                                    const at::Tensor& parameter) {
  const auto found = optimizer.state().find(stateKey(optimizer, parameter));
  return found == optimizer.state().end() ? nullptr : found->second.get();
}

/// The tensors and steps of a state; empty for optimizers other than SGD, Adam and AdamW.
struct StateTensors {
  std::vector<at::Tensor> tensors;
  std::int64_t steps = 0;
};

template <typename State>
StateTensors tensorsOfAdam(const State& state) {
  StateTensors result{{state.exp_avg(), state.exp_avg_sq()}, state.step()};
  if (state.max_exp_avg_sq().defined()) {
    result.tensors.push_back(state.max_exp_avg_sq());
  }
  return result;
}

inline StateTensors tensorsOf(const torch::optim::OptimizerParamState& state) {
  if (const auto* sgd = dynamic_cast<const torch::optim::SGDParamState*>(&state)) {
    return {{sgd->momentum_buffer()}, 0};
  }
  if (const auto* adam = dynamic_cast<const torch::optim::AdamParamState*>(&state)) {
    return tensorsOfAdam(*adam);
  }
  if (const auto* adamw = dynamic_cast<const torch::optim::AdamWParamState*>(&state)) {
    return tensorsOfAdam(*adamw);
  }
  return {};
}

template <typename State>
std::unique_ptr<torch::optim::OptimizerParamState> adamStateOf(const StateTensors& from) {
  auto state = std::make_unique<State>();
  state->step(from.steps);
  state->exp_avg(from.tensors[0]);
  state->exp_avg_sq(from.tensors[1]);
  if (from.tensors.size() > 2) {
    state->max_exp_avg_sq(from.tensors[2]);
  }
  return state;
}

/// Makes `from` the optimizer's state of the parameter. REQUIRES: SGD, Adam or AdamW.
inline void setState(torch::optim::Optimizer& optimizer, const at::Tensor& parameter,
                     const StateTensors& from) {
  auto& state = optimizer.state()[stateKey(optimizer, parameter)];
  if (dynamic_cast<torch::optim::Adam*>(&optimizer) != nullptr) {
    state = adamStateOf<torch::optim::AdamParamState>(from);
  } else if (dynamic_cast<torch::optim::AdamW*>(&optimizer) != nullptr) {
    state = adamStateOf<torch::optim::AdamWParamState>(from);
  } else {
    auto momentum = std::make_unique<torch::optim::SGDParamState>();
    momentum->momentum_buffer(from.tensors[0]);
    state = std::move(momentum);
  }
}

/// Sets the number from which the next step of Adam or AdamW counts.
inline void setSteps(torch::optim::OptimizerParamState& state, std::int64_t steps) {
  if (auto* adam = dynamic_cast<torch::optim::AdamParamState*>(&state)) {
    adam->step(steps);
  } else if (auto* adamw = dynamic_cast<torch::optim::AdamWParamState*>(&state)) {
    adamw->step(steps);
  }
}

}  // namespace steptape::detail::train
