// SPDX-License-Identifier: Apache-2.0
#include "ranks/communicator/collective_state.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "steptape/ranks/collective.h"

#include "base/fnv.h"
#include "base/mutex.h"

namespace steptape::detail::ranks {
namespace {

/// Returns "ranks 0-3, 8"; "4 ranks" if they are unknown.
std::string groupName(int size, const std::vector<int>& ranks) {
  if (ranks.empty()) {
    return std::to_string(size) + " ranks";
  }
  std::string text = "ranks ";
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) {
      ++last;
    }
    text += (i == 0 ? "" : ", ") + std::to_string(ranks[i]) +
            (last == i ? "" : "-" + std::to_string(ranks[last]));
    i = last + 1;
  }
  return text;
}

/// Returns a number that is the same on all ranks of a group and differs from that of other groups,
/// also of those with the same ranks: they are made in the same order everywhere.
std::uint64_t groupId(int rank, int size, const std::vector<int>& ranks) {
  base::Fnv<std::uint64_t> fnv;
  fnv.add(static_cast<std::uint64_t>(size));
  for (const int one : ranks) {
    fnv.add(static_cast<std::uint64_t>(one));
  }
  struct Known {
    base::Mutex mutex;
    // By the hash and, because ranks may be threads, by the rank.
    std::map<std::pair<std::uint64_t, int>, std::uint64_t> count STEPTAPE_GUARDED_BY(mutex);
  };
  static auto* const kKnown = new Known;  // never destroyed: threads may outlive main()
  base::MutexLock lock(kKnown->mutex);
  fnv.add(kKnown->count[{fnv.hash(), rank}]++);
  return std::max<std::uint64_t>(fnv.hash(), 1);
}

std::int64_t bytesIn(const std::vector<std::string>* parts) {
  std::size_t bytes = 0;
  if (parts != nullptr) {
    for (const std::string& part : *parts) {
      bytes += part.size();
    }
  }
  return static_cast<std::int64_t>(bytes);
}

std::int64_t bytesOf(const CollectiveCall& call) {
  const std::size_t elements = std::max(call.count, call.inputCount);
  switch (call.kind) {
    case CollectiveKind::kBarrier:
      return 0;
    case CollectiveKind::kAllreduce:
    case CollectiveKind::kReduceScatter:
      return static_cast<std::int64_t>(elements * dtypeSize(call.dtype));
    case CollectiveKind::kAllreduceMoments:
      return static_cast<std::int64_t>(call.count * sizeof(MetricMoments));
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kAllgather:
    case CollectiveKind::kGather:
      return static_cast<std::int64_t>(elements);
    case CollectiveKind::kAlltoall:
      return bytesIn(call.toRank);
  }
  return 0;
}

/// Builds CollectiveCall::title() in a fixed array, without an allocation.
class Title {
 public:
  explicit Title(const CollectiveCall& call) {
    switch (call.kind) {
      case CollectiveKind::kBarrier:
        add("barrier");
        break;
      case CollectiveKind::kAllreduce:
        add("allreduce(");
        add(reduceOpName(call.op));
        add(")");
        break;
      case CollectiveKind::kAllreduceMoments:
        add("allreduce(merge)");
        break;
      case CollectiveKind::kReduceScatter:
        add("reduceScatter(");
        add(reduceOpName(call.op));
        add(")");
        break;
      case CollectiveKind::kBroadcast:
        add("broadcast");
        break;
      case CollectiveKind::kAllgather:
        add("allgather");
        break;
      case CollectiveKind::kAlltoall:
        add("alltoall");
        break;
      case CollectiveKind::kGather:
        add("gather");
        break;
    }
    if (!call.name.empty()) {
      add(" '");
      add(call.name);
      add("'");
    }
  }
  std::string_view text() const { return {text_.data(), size_}; }

 private:
  void add(std::string_view part) {
    const std::size_t size = std::min(part.size(), text_.size() - size_);
    std::copy_n(part.data(), size, text_.data() + size_);
    size_ += size;
  }

  std::array<char, 128> text_;
  std::size_t size_ = 0;
};

}  // namespace

GroupState::GroupState(int rank, int size, const std::vector<int>& jobRanks)
    : rank_(rank),
      size_(size),
      id_(groupId(rank, size, jobRanks)),
      name_(groupName(size, jobRanks)) {}

GroupState::~GroupState() {
  if (page_ != nullptr && page_ == process::StatePage::current()) {
    page_->collectives().removeGroup(number_);
  }
}

CollectiveToken GroupState::start(const CollectiveCall& call,
                                  process::RankState::CollectivePhase phase) noexcept {
  ++started_;
  process::StatePage* const page = process::StatePage::current();
  if (page == nullptr) {
    return {};
  }
  if (page != page_) {
    page_ = page;
    number_ = page->collectives().addGroup(id_, name_, rank_, size_);
  }
  const Title title(call);
  CollectiveToken token;
  token.group = number_;
  token.comparesRanks = comparesRanks(call);
  token.number = page->collectives().start(number_, started_, title.text(), bytesOf(call),
                                           call.hasElements() ? &call.dtype : nullptr, phase);
  return token;
}

void notePhase(const CollectiveToken& token, process::RankState::CollectivePhase phase) noexcept {
  process::StatePage* const page = process::StatePage::current();
  if (token.number != 0 && page != nullptr) {
    page->collectives().setPhase(token.number, phase);
  }
}

void noteEnd(CollectiveToken* token, bool hasSucceeded) noexcept {
  process::StatePage* const page = process::StatePage::current();
  if (token->number != 0 && page != nullptr) {
    page->collectives().end(token->group, token->number, hasSucceeded);
  }
  *token = {};
}

}  // namespace steptape::detail::ranks
