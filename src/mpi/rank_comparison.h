// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpi/collective_stages.h"
#include "mpi/compared_message.h"

namespace steptape::mpi::detail {

/// Finds out whether all ranks are in the same collective, by one reduction of a ComparedMessage.
/// If they differ, all exchange their descriptions.
class RankComparison {
 public:
  /// Starts the comparison. All ranks do so in the order of their collectives.
  ///
  /// @param sequence The number of the collective: ranks that are one collective apart differ even
  ///                 if the two are alike.
  void post(MpiGroup& group, const CollectiveCall& call, std::uint64_t sequence);

  /// Advances the comparison. All ranks must exchange descriptions in the order of their
  /// collectives: call it only when isDecided() for earlier ones.
  ///
  /// @return whether the ranks are known to agree.
  /// @throws Error(kRankMismatch) once it is known how they differ, the same on every rank.
  bool poll(MpiGroup& group, const CollectiveCall& call);

  /// Writes the result of a collective that ComparedMessage::carries(). REQUIRES: the ranks agree.
  void store(const MpiGroup& group, const CollectiveCall& call) const {
    message_.store(call, group.map().size());
  }

  /// Returns whether it is known if the ranks agree; how they differ may still be in flight.
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
