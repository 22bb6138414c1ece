// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "steptape/comm/communicator.h"
#include "steptape/parallel/gradient_sync.h"

#include "parallel/gradients/gradient_slots.h"

namespace torch::optim {
class Optimizer;
}

namespace steptape::detail {

/// A way in which the gradients of all ranks become their averages: through memory that the ranks
/// of a node share, or by messages.
///
/// An exchange is, the same on every rank:
///
///     collect()  ─  sumOfSquares()?  ─  scaleBy()?  ─  distribute(), or update() if takesOver()
///
/// Not thread-safe: one thread at a time, the communicator's.
class GradientExchange {
 public:
  GradientExchange() = default;
  GradientExchange(const GradientExchange&) = delete;
  GradientExchange& operator=(const GradientExchange&) = delete;
  virtual ~GradientExchange() = default;

  /// Gives the slots of `dense`, which are exchanged here, their places. Collective; once, before
  /// the first collect().
  ///
  /// @return false on every rank if this way is not open here: `why` says what is missing.
  virtual bool layOut(const std::vector<std::size_t>& dense, std::string& why) = 0;

  /// Whether the backward() that comes next is the last one before collect(), so that the exchange
  /// may start in it. Off at first.
  virtual void setOverlapping(bool /*isOverlapping*/) {}

  /// Brings the gradients of all ranks together: their sum times `scale`. Collective.
  virtual void collect(double scale) = 0;
  /// The square of the Euclidean norm of what was collected and of `sparse`, which every rank has;
  /// the same on every rank. Collective.
  virtual double sumOfSquares(const std::vector<at::Tensor>& sparse) = 0;
  /// Multiplies what was collected.
  virtual void scaleBy(double factor) = 0;
  /// Ends the exchange: the averages are in the slots' places. Collective.
  virtual void distribute() = 0;

  /// Whether update() makes the steps of `optimizer`; otherwise every rank does. Once it does, it
  /// continues with that. Collective the first time with an optimizer; after layOut().
  ///
  /// @throws Error(kInvalidArgument) if update() makes the steps of another optimizer.
  virtual bool takesOver(torch::optim::Optimizer& /*optimizer*/) { return false; }
  /// Ends the exchange with a step of that optimizer. The slots' places then hold the averages if
  /// `keepGradients`, and nothing of meaning otherwise. Collective. REQUIRES: takesOver().
  virtual void update(bool /*keepGradients*/) {}

  /// Whether any rank had a gradient for the slot. Valid after collect().
  virtual GradientState stateOf(std::size_t slot) const = 0;
  /// Time spent in waiting for other ranks.
  virtual double waitSeconds() const = 0;
  /// GradientSync::describe().
  virtual std::string describe() const = 0;
};

/// Through memory that the ranks of a node share. `slots` must live as long.
///
/// REQUIRES: GradientReduction::kAverage; no Compression::kPowerSgd if there are several nodes.
std::unique_ptr<GradientExchange> makeSharedExchange(std::vector<GradientSlot>& slots,
                                                     std::shared_ptr<Communicator> world,
                                                     const GradientSyncOptions& options);

/// By messages, bucket by bucket, as far as possible while backward() still runs. From its
/// construction on it notes in which order gradients get ready; layOut() makes buckets in that
/// order, the root's on every rank. With GradientReduction::kAdasum the averages are the ranks'
/// combination, whatever the scale of collect().
///
/// With GradientSyncOptions::overlap there are hooks in backward(), which may run on another
/// thread, one at a time. A second backward() in the same step, after a hook has sent a gradient,
/// ends with Error(kFailedPrecondition) naming the parameter, and so does collect() after it.
///
/// `slots` must live as long.
///
/// @param note Ends describe(): why the ranks share no memory, if they tried to.
/// @throws Error(kInvalidArgument) for kAdasum with kPowerSgd.
std::unique_ptr<GradientExchange> makeMessageExchange(std::vector<GradientSlot>& slots,
                                                      std::shared_ptr<Communicator> world,
                                                      const GradientSyncOptions& options,
                                                      const std::string& note = {});

}  // namespace steptape::detail
