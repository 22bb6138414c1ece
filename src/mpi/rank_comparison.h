// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpi/collective_stages.h"
#include "mpi/compared_message.h"

namespace steptape::mpi::detail {

/// Whether all ranks are in the same collective, found by one reduction of a ComparedMessage; where
/// they differ, all exchange their descriptions.
class RankComparison {
 public:
  /// Starts the comparison. All ranks do so in the order of their collectives.
  ///
  /// @param sequence The number of the collective: ranks that are one collective apart differ even
  ///                 where the two are alike.
  void post(MpiGroup& group, const CollectiveCall& call, std::uint64_t sequence);

  /// Moves it on. All ranks must come to the exchange of descriptions in the order of their
  /// collectives: call it only when isDecided() for those before.
  ///
  /// @return whether the ranks were found to agree.
  /// @throws Error(kRankMismatch) once it is known how they differ, the same on every rank.
  bool poll(MpiGroup& group, const CollectiveCall& call);

  /// Writes the result of a collective that ComparedMessage::carries(). REQUIRES: the ranks agree.
  void store(const MpiGroup& group, const CollectiveCall& call) const {
    message_.store(call, group.map().size());
  }

  /// Whether it is known if the ranks agree; how they differ may be on its way still.
  bool isDecided() const { return agree_ || !descriptions_.empty(); }

 private:
  void postDescriptions(MpiGroup& group, const CollectiveCall& call);
  [[noreturn]] void throwMismatch(const MpiGroup& group) const;

  ComparedMessage message_;
  bool agree_ = false;
  std::vector<char> descriptions_;  // Of all ranks, kDescriptionBytes each.
  Requests requests_;
};

}  // namespace steptape::mpi::detail
