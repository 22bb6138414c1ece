// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "steptape/ranks/communicator.h"

#include "train/replicas/gradients/gradient_slots.h"
#include "train/replicas/shared_memory/shared_gradients.h"

#include <torch/optim/optimizer.h>

namespace steptape::detail::train {

/// Makes the steps of an optimizer whose parameters and state are in memory that the ranks of a
/// node share: each rank updates the part whose gradients it sums.
///
/// The optimizer stays a torch::optim::Optimizer with its state, whose tensors are in the shared
/// memory. If a program loads other parameters or state on all ranks, the next step notices it and
/// copies them into the shared memory.
///
/// @threads Not thread-safe: one thread at a time, the communicator's.
class SharedOptimizer {
 public:
  /// Returns whether `optimizer` is of a supported kind, and has exactly the parameters of the
  /// slots with assigned memory.
  static bool canShare(const torch::optim::Optimizer& optimizer,
                       const std::vector<GradientSlot>& slots, const SharedGradients& gradients);

  /// Allocates the shared memory. Collective.
  ///
  /// @return null on every rank if there is not enough memory: `why` is set to the reason.
  static std::unique_ptr<SharedOptimizer> create(torch::optim::Optimizer& optimizer,
                                                 const std::vector<GradientSlot>& slots,
                                                 SharedGradients& gradients, Communicator& world,
                                                 std::string& why);
  SharedOptimizer(const SharedOptimizer&) = delete;
  SharedOptimizer& operator=(const SharedOptimizer&) = delete;
  /// Gives the parameters and the state separate memory again. The optimizer may already be
  /// destroyed.
  ~SharedOptimizer();

  const torch::optim::Optimizer* optimizer() const { return &optimizer_; }

  /// Returns whether parameters and state of this rank are in the shared memory.
  bool isAttached() const;
  /// Copies the parameters and the state of the node's first rank into the shared memory, which
  /// every rank then uses. All ranks of the node call it.
  void attach();

  /// Makes a step with the remaining sums of SharedGradients, times `scale`. All ranks of the node
  /// call it, and then SharedGradients::finish().
  void step(double scale);

 private:
  /// Data of a parameter in addition to its slot.
  struct Parameter {
    std::size_t slot;
    std::size_t group;
    std::vector<at::Tensor> state;  ///< In the shared memory; empty before its first step.
    std::int64_t steps = 0;
  };
  /// Neighboring parameters in an array with equal updates.
  struct Run {
    std::size_t begin;
    std::size_t end;
    std::size_t group;
    bool isFirst;
    std::int64_t steps;
  };

  SharedOptimizer(torch::optim::Optimizer& optimizer, const std::vector<GradientSlot>& slots,
                  SharedGradients& gradients);
  std::size_t bytesNeeded() const;
  void* arrayAt(std::size_t which, std::size_t array) const;
  at::Tensor tensorAt(std::size_t which, const Parameter& parameter) const;
  std::int64_t& sharedSteps(std::size_t index) const;
  void copyIn();
  void pointIn();
  void makeState(Parameter& parameter);
  bool isUsed(const Parameter& parameter) const;
  std::vector<Run> runsOf(std::size_t array) const;
  template <typename T>
  void update(const Run& run, std::size_t array, double scale);
  void countStep(Parameter& parameter);

  torch::optim::Optimizer& optimizer_;
  const std::vector<GradientSlot>& slots_;
  SharedGradients& gradients_;
  std::size_t stateTensors_;           ///< Per parameter.
  std::vector<Parameter> parameters_;  ///< By array, then offset.
  std::shared_ptr<NodeMemory> memory_;
};

}  // namespace steptape::detail::train
