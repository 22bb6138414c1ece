// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "steptape/base/status.h"

#include "ranks/communicator/group_messages.h"
#include "ranks/engine/collective_stages.h"

namespace steptape::detail::ranks {

/// The elements that each rank receives in a reduceScatter; a rank knows only its own number.
class PartSizes {
 public:
  bool arePosted() const { return !sizes_.empty(); }

  void post(Transport& transport, const CollectiveCall& call, Transfers& transfers) {
    sizes_.assign(static_cast<std::size_t>(transport.map().size()), 0);
    sizes_[static_cast<std::size_t>(transport.map().rank())] = call.count;
    transfers.add(transport.allgather(sizes_.data(), sizeof sizes_.front()));
  }

  /// REQUIRES: the exchange has ended.
  ///
  /// @throws Error(kRankMismatch) on all ranks if the parts do not sum up to the whole.
  void check(const CollectiveCall& call) const {
    const std::uint64_t total = std::accumulate(sizes_.begin(), sizes_.end(), std::uint64_t{0});
    if (total != call.inputCount) {
      throw Error(ErrorCode::kRankMismatch, partsMismatchText(call, total));
    }
  }

  const std::vector<std::uint64_t>& sizes() const { return sizes_; }

 private:
  std::vector<std::uint64_t> sizes_;
};

}  // namespace steptape::detail::ranks
