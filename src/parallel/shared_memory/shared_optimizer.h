// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "steptape/comm/communicator.h"

#include "parallel/gradients/gradient_slots.h"
#include "parallel/shared_memory/shared_gradients.h"

#include <torch/optim/optimizer.h>

namespace steptape::detail {

/// Makes the steps of an optimizer whose parameters and state lie in memory that the ranks of a
/// node share: each rank updates the part of them whose gradients it adds up.
///
/// The optimizer stays a torch::optim::Optimizer with its state, whose tensors lie in the shared
/// memory. What loads other parameters or state into it, on all ranks, is noticed at the next step
/// and brought into the shared memory again.
///
/// Not thread-safe: one thread at a time, the communicator's.
class SharedOptimizer {
 public:
  /// Whether `optimizer` is of a kind that can be shared, and has the parameters of the slots that
  /// have a place, and no others.
  static bool canShare(const torch::optim::Optimizer& optimizer,
                       const std::vector<GradientSlot>& slots, const SharedGradients& gradients);

  /// Shares the memory. Collective.
  ///
  /// @return null on every rank if there is not enough: `why` says what is missing.
  static std::unique_ptr<SharedOptimizer> create(torch::optim::Optimizer& optimizer,
                                                 const std::vector<GradientSlot>& slots,
                                                 SharedGradients& gradients, Communicator& world,
                                                 std::string& why);
  SharedOptimizer(const SharedOptimizer&) = delete;
  SharedOptimizer& operator=(const SharedOptimizer&) = delete;
  /// Gives the parameters and the state memory of their own again. The optimizer may be gone.
  ~SharedOptimizer();

  const torch::optim::Optimizer* optimizer() const { return &optimizer_; }

  /// Whether parameters and state of this rank lie in the shared memory.
  bool isAttached() const;
  /// Brings the parameters and the state of the node's first rank into the shared memory, and makes
  /// them those of every rank. All ranks of the node call it.
  void attach();

  /// Makes the step with what SharedGradients have to add up, times `scale`. All ranks of the node
  /// call it, and SharedGradients::finish() after it.
  void step(double scale);

 private:
  /// What is known of a parameter beside its slot.
  struct Parameter {
    std::size_t slot;
    std::size_t group;
    std::vector<at::Tensor> state;  ///< In the shared memory; empty before its first step.
    std::int64_t steps = 0;
  };
  /// Neighbors in an array which are updated alike.
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
  std::size_t stateTensors_;           ///< Of each parameter.
  std::vector<Parameter> parameters_;  ///< By array, then offset.
  std::shared_ptr<NodeMemory> memory_;
};

}  // namespace steptape::detail
