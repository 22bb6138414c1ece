// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ranks/engine/transport.h"

namespace steptape::detail::ranks {

/// Small messages by which waiting ranks find out which ranks are missing.
///
/// A rank that has waited for long announces to all others the latest collective that it has
/// started. Other waiting ranks answer in the same way. A rank that does not answer is not waiting:
/// it computes, hangs or has ended. A late rank finds the notes and reads them.
class StallNotes {
 public:
  explicit StallNotes(std::shared_ptr<Transport> transport) : transport_(std::move(transport)) {}

  /// Announces to all others that this rank has started the collectives up to `latest` and waits in
  /// `call`, number `awaited`. Sends each announcement only once.
  void announce(std::uint64_t latest, std::uint64_t awaited, const CollectiveCall& call);
  /// Like announce(), but only if another rank has announced something since.
  void answer(std::uint64_t latest, std::uint64_t awaited, const CollectiveCall& call);
  /// Reads the notes that have arrived.
  void takeIn();
  /// Returns the ranks that have not announced collective `sequence`, each with the collective in
  /// which it waits if that is known: "rank 3 (node7), rank 4 (node7) which is in barrier"; may be
  /// empty.
  std::string missing(std::uint64_t sequence) const;

 private:
  std::shared_ptr<Transport> transport_;
  std::vector<StallNote> heardByRank_;  // empty until the first note
  std::uint64_t announced_ = 0;         // the latest announced collective
  std::uint64_t askedFor_ = 0;          // the highest number for which another rank waits
};

}  // namespace steptape::detail::ranks
