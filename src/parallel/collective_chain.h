// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "steptape/distributed/collective.h"

namespace steptape::detail {

/// A collective that a chain has started.
struct ChainLink {
  CollectiveHandle handle;
  bool isLast;  ///< No other comes behind it, so that another chain may start.
};

/// Collectives one behind the other with work between them, such as: compress, allreduce,
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

}  // namespace steptape::detail
