// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "ranks/engine/transport.h"

namespace steptape::detail::ranks {

/// Calls `call(offset, count)` for consecutive pieces of at most `maxCount` of `total` elements.
template <typename Call>
void forEachChunk(std::size_t total, std::size_t maxCount, const Call& call) {
  for (std::size_t offset = 0; offset < total; offset += maxCount) {
    call(offset, static_cast<int>(std::min(maxCount, total - offset)));
  }
}

/// The operations of one collective that have been started and have not ended.
class Transfers {
 public:
  void add(Transfer transfer) {
    if (transfer != 0) {
      pending_.push_back(transfer);
    }
  }
  /// Advances them.
  /// @return whether all have ended.
  bool haveEnded(Transport& transport);

 private:
  std::vector<Transfer> pending_;
};

/// The operations of a collective, in stages; each stage needs the results of the previous one.
class CollectiveStages {
 public:
  CollectiveStages(Transport& transport, const CollectiveCall& call)
      : transport_(transport), call_(call) {}
  CollectiveStages(const CollectiveStages&) = delete;
  CollectiveStages& operator=(const CollectiveStages&) = delete;
  virtual ~CollectiveStages() = default;

  /// Starts the operations of the next stage, after those of the previous one have ended.
  ///
  /// @return whether another stage follows; the same on all ranks.
  /// @throws Error(kRankMismatch) on all ranks if their sizes do not match.
  virtual bool postNext(Transfers& transfers) = 0;
  /// Called when the operations of the last stage have ended.
  virtual void finish() {}

 protected:
  std::size_t size() const { return static_cast<std::size_t>(transport_.map().size()); }
  std::size_t rank() const { return static_cast<std::size_t>(transport_.map().rank()); }
  std::size_t maxCount() const { return transport_.maxCount(); }

  Transport& transport_;
  const CollectiveCall& call_;  // outlives the stages
};

/// Makes the stages of a reduction that Transport::canReduce().
std::unique_ptr<CollectiveStages> makeReduction(Transport& transport, const CollectiveCall& call);
/// Makes the stages of any other reduction.
std::unique_ptr<CollectiveStages> makeSliceReduction(Transport& transport,
                                                     const CollectiveCall& call);
std::unique_ptr<CollectiveStages> makeExchange(Transport& transport, const CollectiveCall& call);

}  // namespace steptape::detail::ranks
