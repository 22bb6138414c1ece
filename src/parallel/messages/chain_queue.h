// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <exception>
#include <optional>

#include "steptape/comm/collective.h"

namespace steptape::detail {

/// A collective that a chain has started.
struct ChainLink {
  CollectiveHandle handle;
  bool isLast;  ///< No other link follows, so another chain may start.
};

/// Collectives one after the other with work between them, such as: compress, allreduce,
/// decompress. Each rank has the same chain, and starts its collectives in the same order.
///
/// Not thread-safe: one thread at a time, the communicator's.
class CollectiveChain {
 public:
  CollectiveChain() = default;
  CollectiveChain(const CollectiveChain&) = delete;
  CollectiveChain& operator=(const CollectiveChain&) = delete;
  virtual ~CollectiveChain() = default;

  /// Works up to the next collective and starts it. To be called again once that has ended.
  ///
  /// @return none at the end: the chain has done its work, and can start anew.
  virtual std::optional<ChainLink> advance() = 0;
};

/// Carries out chains of collectives in the order in which they were pushed.
///
/// A chain starts once the one before has its last collective under way: so every rank starts all
/// collectives in the same order, whenever each of them ends. At most two are under way, so that
/// one can travel while the next is made ready, and giving up waits for no more than these.
///
/// After an error it does nothing any more: the ranks are out of step.
///
/// Not thread-safe: one thread at a time, the communicator's.
class ChainQueue {
 public:
  /// Only takes note of it. `chain` must live until the queue is idle.
  void push(CollectiveChain& chain);

  /// Goes on as far as that takes no waiting.
  void poll() noexcept;
  /// Waits for one collective, and continues its chain.
  void waitForOne() noexcept;
  /// Waits for all. @throws what a collective threw, now or before.
  void finish();

  bool isIdle() const { return waiting_.empty() && underWay_.empty(); }
  /// Throws what a collective threw, if one did.
  void rethrowError() const;

 private:
  struct Entry {
    CollectiveChain* chain;
    ChainLink link;
  };

  void start();
  void advanceFirst();
  void giveUp() noexcept;

  std::deque<CollectiveChain*> waiting_;
  std::deque<Entry> underWay_;
  std::exception_ptr error_;
};

}  // namespace steptape::detail
