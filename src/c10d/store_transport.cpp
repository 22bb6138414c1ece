// SPDX-License-Identifier: Apache-2.0
#include "c10d/store_transport.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <utility>

#include "steptape/base/error.h"

namespace steptape::c10d::detail {

using steptape::detail::CollectiveCall;
using steptape::detail::ComparedMessage;
using steptape::detail::GroupMap;
using steptape::detail::RankParts;
using steptape::detail::StallNote;
using steptape::detail::Transfer;
using steptape::detail::TransportFailure;

namespace {

using ByRank = std::vector<std::string>;

constexpr std::chrono::microseconds kFirstPause{200};
constexpr std::chrono::microseconds kLongestPause{5000};
constexpr std::chrono::milliseconds kBetweenNotes{100};

std::size_t indexOf(int number) {
  return static_cast<std::size_t>(number);
}

void checkSize(const std::string& bytes, std::size_t expected) {
  if (bytes.size() != expected) {
    throw TransportFailure(ErrorCode::kRankMismatch,
                           "got " + std::to_string(bytes.size()) + " bytes from a rank; expected " +
                               std::to_string(expected) + "; the ranks passed different sizes");
  }
}

}  // namespace

StoreTransport::StoreTransport(std::shared_ptr<KeyStore> store, GroupMap map)
    : Transport(std::move(map), INT_MAX),
      store_(std::move(store)),
      seenNotes_(indexOf(this->map().size())) {}

std::string StoreTransport::keyOf(std::size_t number, std::uint64_t operation, int rank) const {
  return std::to_string(number) + "/" + std::to_string(operation) + "/" + std::to_string(rank);
}

Transfer StoreTransport::start(LaneNumber number, std::string mine,
                               std::function<void(const ByRank&)> finish) {
  Lane& lane = lanes_[number];
  Operation operation;
  operation.byRank.resize(indexOf(map().size()));
  operation.finish = std::move(finish);
  const std::uint64_t own = ++lane.started;
  operation.byRank[indexOf(map().rank())] = std::move(mine);
  lane.operations.push_back(std::move(operation));
  nextLook_ = {};
  pause_ = kFirstPause;
  return own * kLanes + number;
}

bool StoreTransport::hasEnded(Transfer& transfer) {
  const std::size_t number = transfer % kLanes;
  if (lanes_[number].ended < transfer / kLanes && Clock::now() >= nextLook_) {
    try {
      advance(number);
    } catch (const Error& error) {
      throw TransportFailure(error.code(), error.what());
    }
    nextLook_ = Clock::now() + pause_;
    pause_ = std::min(2 * pause_, kLongestPause);
  }
  if (lanes_[number].ended < transfer / kLanes) {
    return false;
  }
  transfer = 0;
  return true;
}

void StoreTransport::advance(std::size_t number) {
  Lane& lane = lanes_[number];
  while (!lane.operations.empty()) {
    Operation& operation = lane.operations.front();
    const std::uint64_t own = lane.ended + 1;
    if (!operation.isSent) {
      store_->set(keyOf(number, own, map().rank()), operation.byRank[indexOf(map().rank())]);
      operation.isSent = true;
    }
    for (; operation.next < map().size(); ++operation.next) {
      const int rank = operation.next;
      if (rank != map().rank() &&
          !store_->tryGet(keyOf(number, own, rank), operation.byRank[indexOf(rank)])) {
        return;
      }
    }
    operation.finish(operation.byRank);
    lane.operations.pop_front();
    lane.ended = own;
    // All ranks have come to this operation, and have read all of the one before.
    if (own > 1) {
      store_->remove(keyOf(number, own - 1, map().rank()));
    }
  }
}

Transfer StoreTransport::compare(ComparedMessage& message) {
  std::string mine(ComparedMessage::kBytes, '\0');
  std::memcpy(mine.data(), &message, mine.size());
  return start(kComparisons, std::move(mine), [&message](const ByRank& byRank) {
    for (std::size_t rank = 0; rank < byRank.size(); ++rank) {
      checkSize(byRank[rank], ComparedMessage::kBytes);
      message.mergeInOrder(static_cast<int>(rank), byRank[rank].data());
    }
  });
}

namespace {

std::function<void(const ByRank&)> storeEqualParts(char* all, std::size_t bytesPerRank) {
  return [all, bytesPerRank](const ByRank& byRank) {
    char* to = all;
    for (const std::string& bytes : byRank) {
      checkSize(bytes, bytesPerRank);
      std::memcpy(to, bytes.data(), bytesPerRank);
      to += bytesPerRank;
    }
  };
}

}  // namespace

Transfer StoreTransport::gatherReports(char* all, std::size_t bytesPerRank) {
  return start(kReports, std::string(all + indexOf(map().rank()) * bytesPerRank, bytesPerRank),
               storeEqualParts(all, bytesPerRank));
}

Transfer StoreTransport::allgather(void* all, std::size_t bytesPerRank) {
  auto* const bytes = static_cast<char*>(all);
  return start(kData, std::string(bytes + indexOf(map().rank()) * bytesPerRank, bytesPerRank),
               storeEqualParts(bytes, bytesPerRank));
}

Transfer StoreTransport::barrier() {
  return start(kData, "", [](const ByRank& /*byRank*/) {});
}

Transfer StoreTransport::broadcast(void* data, std::size_t bytes, int root) {
  auto* const to = static_cast<char*>(data);
  return start(kData, map().rank() == root ? std::string(to, bytes) : std::string(),
               [to, bytes, root](const ByRank& byRank) {
                 checkSize(byRank[indexOf(root)], bytes);
                 std::memcpy(to, byRank[indexOf(root)].data(), bytes);
               });
}

Transfer StoreTransport::allgatherv(void* all, const RankParts& parts) {
  auto* const to = static_cast<char*>(all);
  const std::size_t rank = indexOf(map().rank());
  return start(kData, std::string(to + parts.starts[rank], indexOf(parts.counts[rank])),
               [to, &parts](const ByRank& byRank) {
                 for (std::size_t other = 0; other < byRank.size(); ++other) {
                   checkSize(byRank[other], indexOf(parts.counts[other]));
                   std::memcpy(to + parts.starts[other], byRank[other].data(),
                               byRank[other].size());
                 }
               });
}

Transfer StoreTransport::alltoallv(const void* from, const RankParts& sent, void* to,
                                   const RankParts& received) {
  // Before the bytes: where those of each rank begin.
  std::string mine;
  const std::size_t ranks = sent.counts.size();
  for (const int start : sent.starts) {
    const auto offset = static_cast<std::uint64_t>(start);
    mine.append(reinterpret_cast<const char*>(&offset), sizeof offset);
  }
  mine.append(static_cast<const char*>(from), sent.total());
  auto* const bytes = static_cast<char*>(to);
  const std::size_t rank = indexOf(map().rank());
  return start(kData, std::move(mine), [bytes, &received, ranks, rank](const ByRank& byRank) {
    for (std::size_t other = 0; other < ranks; ++other) {
      const std::string& message = byRank[other];
      const std::size_t count = indexOf(received.counts[other]);
      std::uint64_t offset = 0;
      std::memcpy(&offset, message.data() + rank * sizeof offset, sizeof offset);
      const std::size_t at = ranks * sizeof offset + offset;
      if (at + count > message.size()) {
        checkSize(message, at + count);
      }
      std::memcpy(bytes + received.starts[other], message.data() + at, count);
    }
  });
}

bool StoreTransport::canReduce(const CollectiveCall& /*call*/) const {
  return false;
}

Transfer StoreTransport::allreduce(const CollectiveCall& /*call*/, std::size_t /*offset*/,
                                   std::size_t /*count*/) {
  return 0;
}

Transfer StoreTransport::reduceScatter(const CollectiveCall& /*call*/,
                                       const std::vector<int>& /*counts*/) {
  return 0;
}

void StoreTransport::postNote(const StallNote& note) {
  try {
    store_->set("note/" + std::to_string(map().rank()),
                std::string_view(reinterpret_cast<const char*>(&note), sizeof note));
  } catch (const Error&) {
    // Notes only improve messages: an operation reports that the store is lost.
  }
}

bool StoreTransport::takeNote(int& rank, StallNote& note) {
  if (nextNote_ == 0 && Clock::now() < nextNotes_) {
    return false;
  }
  try {
    for (; nextNote_ < map().size(); ++nextNote_) {
      std::string bytes;
      std::string& seen = seenNotes_[indexOf(nextNote_)];
      if (nextNote_ != map().rank() && store_->tryGet("note/" + std::to_string(nextNote_), bytes) &&
          bytes.size() == sizeof note && bytes != seen) {
        std::memcpy(static_cast<void*>(&note), bytes.data(), sizeof note);
        seen = std::move(bytes);
        rank = nextNote_++;
        return true;
      }
    }
  } catch (const Error&) {
    // As above.
  }
  nextNote_ = 0;
  nextNotes_ = Clock::now() + kBetweenNotes;
  return false;
}

}  // namespace steptape::c10d::detail
