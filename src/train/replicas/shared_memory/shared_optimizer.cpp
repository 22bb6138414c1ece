// SPDX-License-Identifier: Apache-2.0
#include "train/replicas/shared_memory/shared_optimizer.h"

#include <algorithm>
#include <cmath>
#include <typeinfo>
#include <unordered_map>
#include <utility>

#include "train/replicas/shared_memory/optimizer_state.h"

namespace steptape::detail::train {
namespace {

using torch::optim::Adam;
using torch::optim::AdamOptions;
using torch::optim::AdamW;
using torch::optim::AdamWOptions;
using torch::optim::SGD;
using torch::optim::SGDOptions;

// Of the arrays with a parameter's size, the first is the parameter, the others are its state.
constexpr std::size_t kParameter = 0;
constexpr std::size_t kFirstState = 1;

template <typename Options>
bool anyUsesAmsgrad(const torch::optim::Optimizer& optimizer) {
  const auto& groups = optimizer.param_groups();
  return std::any_of(groups.begin(), groups.end(), [](const auto& group) {
    return static_cast<const Options&>(group.options()).amsgrad();
  });
}

std::size_t stateTensorsOf(const torch::optim::Optimizer& optimizer) {
  if (typeid(optimizer) == typeid(SGD)) {
    return 1;
  }
  const bool amsgrad = typeid(optimizer) == typeid(Adam) ? anyUsesAmsgrad<AdamOptions>(optimizer)
                                                         : anyUsesAmsgrad<AdamWOptions>(optimizer);
  return amsgrad ? 3 : 2;
}

SgdUpdate updateOf(const SGDOptions& options, bool isFirst) {
  return {options.lr(),           options.momentum(), options.dampening(),
          options.weight_decay(), options.nesterov(), isFirst};
}

template <typename Options>
AdamUpdate updateOf(const Options& options, std::int64_t steps, bool decoupled) {
  const auto [beta1, beta2] = options.betas();
  const auto power = static_cast<double>(steps);
  return {options.lr(),
          beta1,
          beta2,
          options.eps(),
          options.weight_decay(),
          decoupled,
          1 - std::pow(beta1, power),
          1 - std::pow(beta2, power)};
}

bool usesAmsgrad(const torch::optim::OptimizerOptions& options) {
  if (const auto* adam = dynamic_cast<const AdamOptions*>(&options)) {
    return adam->amsgrad();
  }
  const auto* adamw = dynamic_cast<const AdamWOptions*>(&options);
  return adamw != nullptr && adamw->amsgrad();
}

/// Makes `tensor` use the memory of `other`, for all references to the tensor.
void setMemory(const at::Tensor& tensor, const at::Tensor& other) {
  at::Tensor(tensor).set_data(other);
}

}  // namespace

bool SharedOptimizer::canShare(const torch::optim::Optimizer& optimizer,
                               const std::vector<GradientSlot>& slots,
                               const SharedGradients& gradients) {
  // Exactly these types: a derived class may make other steps.
  const std::type_info& type = typeid(optimizer);
  if (type != typeid(SGD) && type != typeid(Adam) && type != typeid(AdamW)) {
    return false;
  }
  std::size_t wanted = 0;
  std::unordered_map<const void*, bool> isSlot;
  for (const FlatArray& array : gradients.arrays()) {
    for (const std::size_t slot : array.slots) {
      isSlot[slots[slot].parameter.unsafeGetTensorImpl()] = true;
      ++wanted;
    }
  }
  std::size_t found = 0;
  for (const auto& group : optimizer.param_groups()) {
    for (const at::Tensor& parameter : group.params()) {
      if (isSlot.count(parameter.unsafeGetTensorImpl()) == 0) {
        return false;
      }
      ++found;
    }
  }
  return found == wanted;
}

std::unique_ptr<SharedOptimizer> SharedOptimizer::create(torch::optim::Optimizer& optimizer,
                                                         const std::vector<GradientSlot>& slots,
                                                         SharedGradients& gradients,
                                                         Communicator& world, std::string& why) {
  std::unique_ptr<SharedOptimizer> shared(new SharedOptimizer(optimizer, slots, gradients));
  shared->memory_ = world.allocateNodeMemory(shared->bytesNeeded(), &why);
  return shared->memory_ ? std::move(shared) : nullptr;
}

SharedOptimizer::SharedOptimizer(torch::optim::Optimizer& optimizer,
                                 const std::vector<GradientSlot>& slots, SharedGradients& gradients)
    : optimizer_(optimizer),
      slots_(slots),
      gradients_(gradients),
      stateTensors_(stateTensorsOf(optimizer)) {
  std::unordered_map<const void*, std::size_t> groupOf;
  for (std::size_t group = 0; group < optimizer.param_groups().size(); ++group) {
    for (const at::Tensor& parameter : optimizer.param_groups()[group].params()) {
      groupOf[parameter.unsafeGetTensorImpl()] = group;
    }
  }
  for (const FlatArray& array : gradients.arrays()) {
    for (const std::size_t slot : array.slots) {
      parameters_.push_back({slot, groupOf.at(slots[slot].parameter.unsafeGetTensorImpl()), {}, 0});
    }
  }
}

SharedOptimizer::~SharedOptimizer() {
  if (!memory_) {
    return;
  }
  for (const Parameter& parameter : parameters_) {
    const at::Tensor& tensor = slots_[parameter.slot].parameter;
    setMemory(tensor, tensor.detach().clone());
    for (const at::Tensor& state : parameter.state) {
      setMemory(state, state.clone());
    }
  }
}

std::size_t SharedOptimizer::bytesNeeded() const {
  std::size_t bytes = roundUp(parameters_.size() * sizeof(std::int64_t), kPageBytes);
  for (const FlatArray& array : gradients_.arrays()) {
    bytes += (kFirstState + stateTensors_) * roundUp(array.bytes(), kPageBytes);
  }
  return bytes;
}

std::int64_t& SharedOptimizer::sharedSteps(std::size_t index) const {
  return reinterpret_cast<std::int64_t*>(memory_->data())[index];
}

void* SharedOptimizer::arrayAt(std::size_t which, std::size_t array) const {
  std::size_t offset = roundUp(parameters_.size() * sizeof(std::int64_t), kPageBytes);
  for (std::size_t before = 0; before < array; ++before) {
    offset +=
        (kFirstState + stateTensors_) * roundUp(gradients_.arrays()[before].bytes(), kPageBytes);
  }
  offset += which * roundUp(gradients_.arrays()[array].bytes(), kPageBytes);
  return memory_->data() + offset;
}

at::Tensor SharedOptimizer::tensorAt(std::size_t which, const Parameter& parameter) const {
  const GradientSlot& slot = slots_[parameter.slot];
  auto* array = static_cast<std::byte*>(arrayAt(which, slot.array));
  const std::int64_t bytes = gradients_.arrays()[slot.array].elementBytes();
  return tensorIn(array + slot.offset * bytes, slot.parameter, memory_);
}

bool SharedOptimizer::isAttached() const {
  return std::all_of(parameters_.begin(), parameters_.end(), [this](const Parameter& parameter) {
    const GradientSlot& slot = slots_[parameter.slot];
    const std::int64_t bytes = gradients_.arrays()[slot.array].elementBytes();
    const auto* wanted =
        static_cast<const std::byte*>(arrayAt(kParameter, slot.array)) + slot.offset * bytes;
    const torch::optim::OptimizerParamState* state = findState(optimizer_, slot.parameter);
    if (slot.parameter.data_ptr() != wanted || (state == nullptr) != parameter.state.empty()) {
      return false;
    }
    return state == nullptr || tensorsOf(*state).tensors.front().is_same(parameter.state.front());
  });
}

void SharedOptimizer::attach() {
  if (gradients_.isNodeRoot()) {
    copyIn();
  }
  gradients_.meet("the parameters of the node's first rank");
  pointIn();
  gradients_.meet("the other ranks' moving to shared parameters");
}

void SharedOptimizer::copyIn() {
  constexpr std::int64_t kNoState = -1;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Parameter& parameter = parameters_[i];
    const at::Tensor& tensor = slots_[parameter.slot].parameter;
    tensorAt(kParameter, parameter).copy_(tensor.detach());
    const torch::optim::OptimizerParamState* state = findState(optimizer_, tensor);
    sharedSteps(i) = kNoState;
    if (state == nullptr) {
      for (std::size_t which = 0; which < stateTensors_; ++which) {
        tensorAt(kFirstState + which, parameter).zero_();  // it may hold older state
      }
      continue;
    }
    const StateTensors from = tensorsOf(*state);
    sharedSteps(i) = from.steps;
    for (std::size_t which = 0; which < from.tensors.size(); ++which) {
      tensorAt(kFirstState + which, parameter).copy_(from.tensors[which]);
    }
  }
}

void SharedOptimizer::pointIn() {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    Parameter& parameter = parameters_[i];
    const at::Tensor& tensor = slots_[parameter.slot].parameter;
    setMemory(tensor, tensorAt(kParameter, parameter));
    parameter.state.clear();
    parameter.steps = std::max<std::int64_t>(sharedSteps(i), 0);
    if (sharedSteps(i) >= 0) {
      makeState(parameter);
    }
  }
}

void SharedOptimizer::makeState(Parameter& parameter) {
  StateTensors state;
  const auto& group = optimizer_.param_groups()[parameter.group];
  std::size_t count = stateTensors_;
  if (count == 3 && !usesAmsgrad(group.options())) {
    --count;
  }
  for (std::size_t which = 0; which < count; ++which) {
    state.tensors.push_back(tensorAt(kFirstState + which, parameter));
  }
  state.steps = parameter.steps;
  setState(optimizer_, slots_[parameter.slot].parameter, state);
  parameter.state = std::move(state.tensors);
}

bool SharedOptimizer::isUsed(const Parameter& parameter) const {
  return gradients_.stateOf(parameter.slot) != GradientState::kNone;
}

std::vector<SharedOptimizer::Run> SharedOptimizer::runsOf(std::size_t array) const {
  std::vector<Run> runs;
  for (const Parameter& parameter : parameters_) {
    const GradientSlot& slot = slots_[parameter.slot];
    if (slot.array != array || !isUsed(parameter)) {
      continue;
    }
    const auto begin = static_cast<std::size_t>(slot.offset);
    const std::size_t end = begin + static_cast<std::size_t>(slot.parameter.numel());
    const bool isFirst = parameter.state.empty();
    // Padding up to the next cache line may be updated as well.
    const bool joins = !runs.empty() && begin - runs.back().end < 16 &&
                       runs.back().group == parameter.group && runs.back().isFirst == isFirst &&
                       runs.back().steps == parameter.steps;
    if (joins) {
      runs.back().end = end;
    } else {
      runs.push_back({begin, end, parameter.group, isFirst, parameter.steps});
    }
  }
  return runs;
}

void SharedOptimizer::step(double scale) {
  for (std::size_t array = 0; array < gradients_.arrays().size(); ++array) {
    const SharedGradients::Range mine = gradients_.part(array);
    for (Run run : runsOf(array)) {
      run.begin = std::max(run.begin, mine.begin);
      run.end = std::min(run.end, mine.end);
      if (run.begin < run.end) {
        withElementType(gradients_.arrays()[array].type,
                        [&](auto zero) { update<decltype(zero)>(run, array, scale); });
      }
    }
  }
  for (Parameter& parameter : parameters_) {
    if (isUsed(parameter)) {
      countStep(parameter);
    }
  }
}

template <typename T>
void SharedOptimizer::update(const Run& run, std::size_t array, double scale) {
  const torch::optim::OptimizerOptions& options = optimizer_.param_groups()[run.group].options();
  const ArraySum<T> gradient = gradients_.remainingSum<T>(array, scale);
  const auto at = [&](std::size_t which) { return static_cast<T*>(arrayAt(which, array)); };
  if (const auto* sgd = dynamic_cast<const SGDOptions*>(&options)) {
    T* momentum = sgd->momentum() != 0 ? at(kFirstState) : nullptr;
    train::update(updateOf(*sgd, run.isFirst), gradient, at(kParameter), momentum, run.begin,
                  run.end);
    return;
  }
  const auto* adam = dynamic_cast<const AdamOptions*>(&options);
  const AdamUpdate step =
      adam != nullptr ? updateOf(*adam, run.steps + 1, false)
                      : updateOf(static_cast<const AdamWOptions&>(options), run.steps + 1, true);
  const AdamState<T> state{at(kFirstState), at(kFirstState + 1),
                           usesAmsgrad(options) ? at(kFirstState + 2) : nullptr};
  train::update(step, gradient, at(kParameter), state, run.begin, run.end);
}

void SharedOptimizer::countStep(Parameter& parameter) {
  ++parameter.steps;
  const auto& options = optimizer_.param_groups()[parameter.group].options();
  const auto* sgd = dynamic_cast<const SGDOptions*>(&options);
  if (sgd != nullptr && sgd->momentum() == 0) {
    return;  // it keeps no state
  }
  if (parameter.state.empty()) {
    makeState(parameter);
  } else {
    setSteps(*findState(optimizer_, slots_[parameter.slot].parameter), parameter.steps);
  }
}

}  // namespace steptape::detail::train
