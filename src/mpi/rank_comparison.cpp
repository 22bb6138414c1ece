// SPDX-License-Identifier: Apache-2.0
#include "mpi/rank_comparison.h"

#include <algorithm>

#include "steptape/base/error.h"

#include "comm/group_messages.h"

namespace steptape::mpi::detail {
namespace {

/// Of a fixed size, so that one call exchanges them; a longer name is truncated.
constexpr std::size_t kDescriptionBytes = 512;

}  // namespace

void RankComparison::post(MpiGroup& group, const CollectiveCall& call, std::uint64_t sequence) {
  // Multiplying by an odd factor is reversible, and makes neighboring numbers very different.
  const std::uint64_t fingerprint = call.fingerprint() ^ (sequence * 0x9E3779B97F4A7C15U);
  message_ = ComparedMessage(call, fingerprint);
  group.check(MPI_Iallreduce(MPI_IN_PLACE, &message_, 1, group.comparisonType(),
                             group.comparisonOp(), group.comparisons(), requests_.next()),
              call);
}

bool RankComparison::poll(MpiGroup& group, const CollectiveCall& call) {
  if (agree_ || !requests_.haveEnded(group, call)) {
    return agree_;
  }
  if (!descriptions_.empty()) {
    throwMismatch(group);
  }
  agree_ = message_.isSameOnAllRanks();
  if (!agree_) {
    postDescriptions(group, call);
  }
  return agree_;
}

void RankComparison::postDescriptions(MpiGroup& group, const CollectiveCall& call) {
  descriptions_.assign(static_cast<std::size_t>(group.map().size()) * kDescriptionBytes, '\0');
  const std::string mine = call.describe().substr(0, kDescriptionBytes - 1);
  std::copy(mine.begin(), mine.end(),
            descriptions_.begin() + group.map().rank() * std::ptrdiff_t{kDescriptionBytes});
  group.check(MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, descriptions_.data(),
                             static_cast<int>(kDescriptionBytes), MPI_CHAR, group.reports(),
                             requests_.next()),
              call);
}

void RankComparison::throwMismatch(const MpiGroup& group) const {
  std::vector<std::string> descriptionByRank;
  for (std::size_t at = 0; at < descriptions_.size(); at += kDescriptionBytes) {
    descriptionByRank.emplace_back(descriptions_.data() + at);
  }
  throw Error(ErrorCode::kRankMismatch,
              steptape::detail::mismatchText(descriptionByRank, group.map()));
}

}  // namespace steptape::mpi::detail
