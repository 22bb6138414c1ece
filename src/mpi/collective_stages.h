// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "mpi/mpi_group.h"

namespace steptape::mpi::detail {

/// Calls `call(offset, count)` for consecutive pieces of at most `maxCount` of `total` elements.
template <typename Call>
void forEachChunk(std::size_t total, std::size_t maxCount, const Call& call) {
  for (std::size_t offset = 0; offset < total; offset += maxCount) {
    call(offset, static_cast<int>(std::min(maxCount, total - offset)));
  }
}

/// The MPI calls of one collective that have been posted and have not ended.
class Requests {
 public:
  /// Returns the place for the next call's request.
  MPI_Request* next() { return &pending_.emplace_back(MPI_REQUEST_NULL); }
  /// Returns whether all have ended.
  /// @throws as MpiGroup::check().
  bool haveEnded(MpiGroup& group, const CollectiveCall& call);

 private:
  std::vector<MPI_Request> pending_;
};

/// The MPI calls of a collective, in stages; each stage needs the results of the previous one.
class CollectiveStages {
 public:
  CollectiveStages(MpiGroup& group, const CollectiveCall& call) : group_(group), call_(call) {}
  CollectiveStages(const CollectiveStages&) = delete;
  CollectiveStages& operator=(const CollectiveStages&) = delete;
  virtual ~CollectiveStages() = default;

  /// Posts the calls of the next stage, after those of the previous one have ended.
  ///
  /// @return whether another stage follows; the same on all ranks.
  /// @throws Error(kRankMismatch) on all ranks if their sizes do not match.
  virtual bool postNext(Requests& requests) = 0;
  /// Called when the calls of the last stage have ended.
  virtual void finish() {}

 protected:
  void check(int mpiResult) { group_.check(mpiResult, call_); }
  std::size_t size() const { return static_cast<std::size_t>(group_.map().size()); }
  std::size_t rank() const { return static_cast<std::size_t>(group_.map().rank()); }

  MpiGroup& group_;
  const CollectiveCall& call_;  // outlives the stages
};

std::unique_ptr<CollectiveStages> makeReduction(MpiGroup& group, const CollectiveCall& call);
std::unique_ptr<CollectiveStages> makeHalfReduction(MpiGroup& group, const CollectiveCall& call);
std::unique_ptr<CollectiveStages> makeExchange(MpiGroup& group, const CollectiveCall& call);

}  // namespace steptape::mpi::detail
