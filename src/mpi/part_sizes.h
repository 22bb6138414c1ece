// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "steptape/base/error.h"

#include "comm/group_messages.h"
#include "mpi/collective_stages.h"

namespace steptape::mpi::detail {

/// The elements that each rank receives in a reduceScatter; a rank knows only its own number.
class PartSizes {
 public:
  bool arePosted() const { return !sizes_.empty(); }

  void post(MpiGroup& group, const CollectiveCall& call, Requests& requests) {
    sizes_.assign(static_cast<std::size_t>(group.map().size()), 0);
    sizes_[static_cast<std::size_t>(group.map().rank())] = call.count;
    group.check(MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, sizes_.data(), 1, MPI_UINT64_T,
                               group.data(), requests.next()),
                call);
  }

  /// REQUIRES: the exchange has ended.
  ///
  /// @throws Error(kRankMismatch) on all ranks if the parts do not sum up to the whole.
  void check(const CollectiveCall& call) const {
    const std::uint64_t total = std::accumulate(sizes_.begin(), sizes_.end(), std::uint64_t{0});
    if (total != call.inputCount) {
      throw Error(ErrorCode::kRankMismatch, steptape::detail::partsMismatchText(call, total));
    }
  }

  const std::vector<std::uint64_t>& sizes() const { return sizes_; }

 private:
  std::vector<std::uint64_t> sizes_;
};

}  // namespace steptape::mpi::detail
