// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "steptape/ranks/communicator.h"
#include "steptape/train/gradient_sync.h"

#include "train/replicas/gradients/gradient_slots.h"

namespace torch::optim {
class Optimizer;
}

namespace steptape::detail::train {

/// A method to average the gradients of all ranks: through memory that the ranks of a node share,
/// or by messages.
///
/// The order of calls is the same on every rank:
///
///     collect() ─ a sum of squares? ─ scaleBy()? ─ distribute(), or update() if tryToOwnStep()
///
/// @threads Not thread-safe: one thread at a time, the communicator's.
class GradientExchange {
 public:
  GradientExchange() = default;
  GradientExchange(const GradientExchange&) = delete;
  GradientExchange& operator=(const GradientExchange&) = delete;
  virtual ~GradientExchange() = default;

  /// Assigns memory to the slots of `dense`, which are exchanged here. Collective; call it once,
  /// before the first collect().
  ///
  /// @return false on every rank if this method is not available: `why` is set to the reason.
  virtual bool layOut(const std::vector<std::size_t>& dense, std::string& why) = 0;

  /// Sets whether the next backward() is the last one before collect(), so that the exchange may
  /// start during it. Off at first.
  virtual void setOverlapping(bool /*isOverlapping*/) {}

  /// Sums the gradients of all ranks, times `scale`. Collective.
  virtual void collect(double scale) = 0;
  /// Returns the squared Euclidean norm of the collected gradients and of `sparse`, which every
  /// rank has; the same on every rank. Collective.
  virtual double sumOfSquares(const std::vector<at::Tensor>& sparse) = 0;
  /// As sumOfSquares(), but the result is on the gradients' device, and the host does not wait for
  /// it. Undefined, on every rank, if the gradients are in main memory or pass through it.
  virtual at::Tensor deviceSumOfSquares(const std::vector<at::Tensor>& /*sparse*/) { return {}; }
  /// Multiplies the collected gradients.
  virtual void scaleBy(double factor) = 0;
  /// As above, by one element on their device. REQUIRES: deviceSumOfSquares() is defined.
  virtual void scaleOnDevice(const at::Tensor& /*factor*/) {}
  /// Ends the exchange: the slots' memory holds the averages. Collective.
  virtual void distribute() = 0;

  /// Makes update() responsible for the steps of `optimizer`, if it can: the first call with an
  /// optimizer then moves the parameters to memory of the exchange. Collective for that call, which
  /// must follow layOut().
  ///
  /// @return false if every rank must make the steps. Once true, it stays true.
  /// @throws Error(kInvalidArgument) if update() makes the steps of another optimizer.
  virtual bool tryToOwnStep(torch::optim::Optimizer& /*optimizer*/) { return false; }
  /// Ends the exchange with a step of that optimizer. The slots' memory then holds the averages if
  /// `keepGradients`, else undefined values. Collective. REQUIRES: tryToOwnStep() returned true.
  virtual void update(bool /*keepGradients*/) {}

  /// Returns whether any rank had a gradient for the slot. Valid after collect().
  virtual GradientState stateOf(std::size_t slot) const = 0;
  /// Returns the time spent waiting for other ranks.
  virtual double waitSeconds() const = 0;
  /// Returns the text for GradientSync::describe().
  virtual std::string describe() const = 0;
};

/// Makes the exchange of a single rank, whose averages are its own gradients. `slots` must outlive
/// it.
std::unique_ptr<GradientExchange> makeLoneExchange(const std::vector<GradientSlot>& slots,
                                                   std::shared_ptr<Communicator> world);

/// Makes an exchange through memory that the ranks of a node share. `slots` must outlive it.
///
/// REQUIRES: GradientReduction::kAverage; not Compression::kPowerSgd if there are several nodes.
std::unique_ptr<GradientExchange> makeSharedExchange(std::vector<GradientSlot>& slots,
                                                     std::shared_ptr<Communicator> world,
                                                     const GradientSyncOptions& options);

/// Makes an exchange by messages, bucket by bucket, overlapping with backward() as far as possible.
/// From its construction on, it records the order in which gradients become ready; layOut() makes
/// buckets in that order, the root's on every rank. With GradientReduction::kAdasum, the averages
/// are the ranks' Adasum, whatever the scale of collect().
///
/// With GradientSyncOptions::overlap, it adds hooks to backward(), which may run on another thread,
/// one at a time. A second backward() in the same step, after a hook has sent a gradient, throws
/// Error(kFailedPrecondition) with the parameter, and so does the next collect().
///
/// `slots` must outlive it.
///
/// @param note Appended to describe(): why the ranks share no memory, if they tried to.
/// @throws Error(kInvalidArgument) for kAdasum with kPowerSgd.
std::unique_ptr<GradientExchange> makeMessageExchange(std::vector<GradientSlot>& slots,
                                                      std::shared_ptr<Communicator> world,
                                                      const GradientSyncOptions& options,
                                                      const std::string& note = {});

}  // namespace steptape::detail::train
