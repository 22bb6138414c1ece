// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ranks/engine/compared_message.h"
#include "ranks/engine/transport.h"

namespace steptape::detail::ranks {

/// Finds out whether all ranks are in the same collective, by one reduction of a ComparedMessage.
/// If they differ, all exchange their descriptions.
class RankComparison {
 public:
  /// Starts the comparison. All ranks do so in the order of their collectives.
  ///
  /// @param sequence The number of the collective: ranks that are one collective apart differ even
  ///                 if the two are alike.
  void post(Transport& transport, const CollectiveCall& call, std::uint64_t sequence);

  /// Advances the comparison. All ranks must exchange descriptions in the order of their
  /// collectives: call it only when isDecided() for earlier ones.
  ///
  /// @return whether the ranks are known to agree.
  /// @throws Error(kRankMismatch) once it is known how they differ, the same on every rank.
  bool poll(Transport& transport, const CollectiveCall& call);

  /// Writes the result of a collective that ComparedMessage::carries(). REQUIRES: the ranks agree.
  void store(const Transport& transport, const CollectiveCall& call) const {
    message_.store(call, transport.map().size());
  }

  /// Returns whether it is known if the ranks agree; how they differ may still be in flight.
  bool isDecided() const { return agree_ || !descriptions_.empty(); }

 private:
  void postDescriptions(Transport& transport, const CollectiveCall& call);
  [[noreturn]] void throwMismatch(const Transport& transport) const;

  ComparedMessage message_;
  bool agree_ = false;
  std::vector<char> descriptions_;  // Of all ranks, kDescriptionBytes each.
  Transfer transfer_ = 0;
};

}  // namespace steptape::detail::ranks
