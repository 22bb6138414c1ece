// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <exception>
#include <optional>

#include "steptape/ranks/collective.h"

namespace steptape::detail::train {

/// A collective that a chain has started.
struct ChainLink {
  CollectiveHandle handle;
  bool isLast;  ///< No other collective follows, so another chain may start.
};

/// A sequence of collectives with work between them, such as: compress, allreduce, decompress. Each
/// rank has the same chain, and starts its collectives in the same order.
///
/// @threads Not thread-safe: one thread at a time, the communicator's.
class CollectiveChain {
 public:
  CollectiveChain() = default;
  CollectiveChain(const CollectiveChain&) = delete;
  CollectiveChain& operator=(const CollectiveChain&) = delete;
  virtual ~CollectiveChain() = default;

  /// Works up to the next collective and starts it. Call it again when that has ended.
  ///
  /// @return none at the end: the chain is finished, and can start again.
  virtual std::optional<ChainLink> advance() = 0;
};

/// Executes chains of collectives in the order in which they were pushed.
///
/// A chain starts when the last collective of the previous one is in flight. Every rank thus starts
/// all collectives in the same order, whenever each of them ends. At most two are in flight: one is
/// sent while the next is prepared, and giving up waits for no more than these.
///
/// After an error, it does nothing any more: the ranks are out of step.
///
/// @threads Not thread-safe: one thread at a time, the communicator's.
class ChainQueue {
 public:
  /// Adds a chain without starting it. `chain` must exist until the queue is idle.
  void push(CollectiveChain& chain);

  /// Advances without waiting.
  void poll() noexcept;
  /// Waits for one collective, and continues its chain.
  void waitForOne() noexcept;
  /// Waits for all.
  /// @throws the error of a collective, now or before.
  void finish();

  bool isIdle() const { return waiting_.empty() && underWay_.empty(); }
  /// Throws the error of a collective, if there was one.
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

}  // namespace steptape::detail::train
