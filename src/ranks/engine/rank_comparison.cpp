// SPDX-License-Identifier: Apache-2.0
#include "ranks/engine/rank_comparison.h"

#include <algorithm>

#include "steptape/base/status.h"

#include "ranks/communicator/group_messages.h"

namespace steptape::detail::ranks {
namespace {

/// Of a fixed size, so that one call exchanges them; a longer name is truncated.
constexpr std::size_t kDescriptionBytes = 512;

}  // namespace

void RankComparison::post(Transport& transport, const CollectiveCall& call,
                          std::uint64_t sequence) {
  // Multiplying by an odd factor is reversible, and makes neighboring numbers very different.
  const std::uint64_t fingerprint = call.fingerprint() ^ (sequence * 0x9E3779B97F4A7C15U);
  message_ = ComparedMessage(call, fingerprint);
  transfer_ = transport.compare(message_);
}

bool RankComparison::poll(Transport& transport, const CollectiveCall& call) {
  if (agree_ || (transfer_ != 0 && !transport.hasEnded(transfer_))) {
    return agree_;
  }
  if (!descriptions_.empty()) {
    throwMismatch(transport);
  }
  agree_ = message_.isSameOnAllRanks();
  if (!agree_) {
    postDescriptions(transport, call);
  }
  return agree_;
}

void RankComparison::postDescriptions(Transport& transport, const CollectiveCall& call) {
  descriptions_.assign(static_cast<std::size_t>(transport.map().size()) * kDescriptionBytes, '\0');
  const std::string mine = call.describe().substr(0, kDescriptionBytes - 1);
  std::copy(mine.begin(), mine.end(),
            descriptions_.begin() + transport.map().rank() * std::ptrdiff_t{kDescriptionBytes});
  transfer_ = transport.gatherReports(descriptions_.data(), kDescriptionBytes);
}

void RankComparison::throwMismatch(const Transport& transport) const {
  std::vector<std::string> descriptionByRank;
  for (std::size_t at = 0; at < descriptions_.size(); at += kDescriptionBytes) {
    descriptionByRank.emplace_back(descriptions_.data() + at);
  }
  throw Error(ErrorCode::kRankMismatch, mismatchText(descriptionByRank, transport.map()));
}

}  // namespace steptape::detail::ranks
