// SPDX-License-Identifier: Apache-2.0
#include "ranks/c10d/store_transport.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <utility>

#include "steptape/base/status.h"

namespace steptape::c10d::detail {

using steptape::detail::ranks::CollectiveCall;
using steptape::detail::ranks::ComparedMessage;
using steptape::detail::ranks::GroupMap;
using steptape::detail::ranks::kComparisonLane;
using steptape::detail::ranks::kDataLane;
using steptape::detail::ranks::kLanes;
using steptape::detail::ranks::kReportLane;
using steptape::detail::ranks::LaneNumber;
using steptape::detail::ranks::RankParts;
using steptape::detail::ranks::StallNote;
using steptape::detail::ranks::Transfer;
using steptape::detail::ranks::TransportFailure;

namespace {

using ByRank = std::vector<std::string>;

constexpr std::chrono::microseconds kFirstPause{200};
constexpr std::chrono::microseconds kBetweenNotes{100'000};
constexpr char kCombined = '+';
constexpr char kRefused = '-';
constexpr const char* kAnswer = "answer";
constexpr const char* kNotes = "notes";  // how many were posted

/// Returns a time between looks of at least `least`, so that one server can answer all ranks.
std::chrono::microseconds betweenLooksOf(const GroupMap& map, std::chrono::microseconds least) {
  constexpr std::chrono::microseconds kPerRank{50};
  return std::max(least, kPerRank * map.size());
}

/// The other ranks wait for rank 0, which alone looks often.
std::chrono::microseconds longestPauseFor(const GroupMap& map) {
  constexpr std::chrono::microseconds kLeast{5000};
  return map.rank() == 0 ? kLeast : betweenLooksOf(map, kLeast);
}

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

std::string joined(const ByRank& byRank) {
  std::string all;
  for (const std::string& bytes : byRank) {
    all += bytes;
  }
  return all;
}

/// Joins the bytes of all ranks, which are as many of each.
auto joinedEqualParts(std::size_t bytesPerRank) {
  return [bytesPerRank](const ByRank& byRank) {
    for (const std::string& bytes : byRank) {
      checkSize(bytes, bytesPerRank);
    }
    return joined(byRank);
  };
}

auto copyTo(void* to, std::size_t bytes) {
  return [to, bytes](const std::string& answer) {
    checkSize(answer, bytes);
    if (bytes > 0) {
      std::memcpy(to, answer.data(), bytes);
    }
  };
}

std::string textOf(const void* data, std::size_t bytes) {
  return bytes == 0 ? std::string() : std::string(static_cast<const char*>(data), bytes);
}

}  // namespace

StoreTransport::StoreTransport(std::shared_ptr<KeyStore> store, GroupMap map)
    : Transport(std::move(map), INT_MAX),
      store_(std::move(store)),
      seenNotes_(indexOf(this->map().size())) {}

Transfer StoreTransport::start(LaneNumber lane, std::string mine, Combine combine, Finish finish) {
  Operation operation;
  operation.mine = std::move(mine);
  operation.combine = std::move(combine);
  operation.finish = std::move(finish);
  nextLook_ = {};
  pause_ = kFirstPause;
  return lanes_.add(lane, std::move(operation));
}

bool StoreTransport::hasEnded(Transfer& transfer) {
  if (!lanes_.hasEnded(transfer) && Clock::now() >= nextLook_) {
    try {
      // All lanes: others may wait in another one for rank 0.
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        advance(lane);
      }
    } catch (const Error& error) {
      throw TransportFailure(error.code(), error.what());
    }
    nextLook_ = Clock::now() + pause_;
    pause_ = std::min(2 * pause_, longestPauseFor(map()));
  }
  if (!lanes_.hasEnded(transfer)) {
    return false;
  }
  transfer = 0;
  return true;
}

void StoreTransport::advance(std::size_t lane) {
  const bool combines = map().rank() == 0;
  while (Operation* const current = lanes_.current(lane)) {
    Operation& operation = *current;
    const std::uint64_t ended = lanes_.ended(lane);
    const std::string laneKey = std::to_string(lane) + "/";
    const std::string prefix = laneKey + std::to_string(ended + 1) + "/";
    const std::string own = prefix + std::to_string(map().rank());
    std::string answer;
    if (combines) {
      if (!readAll(operation, prefix)) {
        return;
      }
      answer = this->answer(operation, prefix);
      if (ended > 0) {
        store_->remove(laneKey + std::to_string(ended) + "/" + kAnswer);
      }
    } else {
      if (!operation.isSent) {
        store_->set(own, operation.mine);
        operation.isSent = true;
      }
      if (!store_->tryGet(prefix + kAnswer, answer)) {
        return;
      }
      store_->remove(own);
    }
    const Finish finish = std::move(operation.finish);
    lanes_.endCurrent(lane);
    if (answer.front() != kCombined) {
      throw TransportFailure(ErrorCode::kRankMismatch, answer.substr(1));
    }
    finish(answer.substr(1));
  }
}

bool StoreTransport::readAll(Operation& operation, const std::string& prefix) {
  if (operation.byRank.empty()) {
    operation.byRank.push_back(std::move(operation.mine));
  }
  while (operation.byRank.size() < indexOf(map().size())) {
    std::string bytes;
    if (!store_->tryGet(prefix + std::to_string(operation.byRank.size()), bytes)) {
      return false;
    }
    operation.byRank.push_back(std::move(bytes));
  }
  return true;
}

std::string StoreTransport::answer(Operation& operation, const std::string& prefix) {
  std::string answer(1, kCombined);
  try {
    answer += operation.combine(std::move(operation.byRank));
  } catch (const TransportFailure& failure) {
    answer = kRefused + std::string(failure.what());
  }
  store_->set(prefix + kAnswer, answer);
  return answer;
}

Transfer StoreTransport::compare(ComparedMessage& message) {
  return start(
      kComparisonLane, textOf(&message, ComparedMessage::kBytes),
      [](const ByRank& byRank) {
        ComparedMessage merged;
        for (std::size_t rank = 0; rank < byRank.size(); ++rank) {
          checkSize(byRank[rank], ComparedMessage::kBytes);
          merged.mergeInOrder(static_cast<int>(rank), byRank[rank].data());
        }
        return textOf(&merged, ComparedMessage::kBytes);
      },
      copyTo(&message, ComparedMessage::kBytes));
}

Transfer StoreTransport::gatherReports(char* all, std::size_t bytesPerRank) {
  return start(kReportLane, textOf(all + indexOf(map().rank()) * bytesPerRank, bytesPerRank),
               joinedEqualParts(bytesPerRank), copyTo(all, indexOf(map().size()) * bytesPerRank));
}

Transfer StoreTransport::allgather(void* all, std::size_t bytesPerRank) {
  auto* const bytes = static_cast<char*>(all);
  return start(kDataLane, textOf(bytes + indexOf(map().rank()) * bytesPerRank, bytesPerRank),
               joinedEqualParts(bytesPerRank), copyTo(all, indexOf(map().size()) * bytesPerRank));
}

Transfer StoreTransport::barrier() {
  return start(
      kDataLane, "", [](const ByRank& /*byRank*/) { return std::string(); }, copyTo(nullptr, 0));
}

Transfer StoreTransport::broadcast(void* data, std::size_t bytes, int root) {
  return start(
      kDataLane, map().rank() == root ? textOf(data, bytes) : std::string(),
      [root](ByRank byRank) { return std::move(byRank[indexOf(root)]); }, copyTo(data, bytes));
}

Transfer StoreTransport::allgatherv(void* all, const RankParts& parts) {
  auto* const to = static_cast<char*>(all);
  const std::size_t rank = indexOf(map().rank());
  return start(
      kDataLane, textOf(to + parts.starts[rank], indexOf(parts.counts[rank])),
      [&parts](const ByRank& byRank) {
        for (std::size_t other = 0; other < byRank.size(); ++other) {
          checkSize(byRank[other], indexOf(parts.counts[other]));
        }
        return joined(byRank);
      },
      copyTo(all, parts.total()));
}

Transfer StoreTransport::gatherv(const void* mine, std::size_t bytes, int root, void* all,
                                 const RankParts& parts) {
  return start(kDataLane, textOf(mine, bytes), joined,
               map().rank() == root ? Finish(copyTo(all, parts.total()))
                                    : Finish([](const std::string& /*answer*/) {}));
}

Transfer StoreTransport::alltoallv(const void* from, const RankParts& sent, void* to,
                                   const RankParts& received) {
  // Before the bytes: where those of each rank begin. The answer has the messages of all ranks, one
  // after another, because no rank but the receiver knows how much of each is for it.
  const std::size_t ranks = sent.counts.size();
  std::string mine;
  const auto append = [](std::string& text, std::uint64_t number) {
    text.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  for (const int start : sent.starts) {
    append(mine, static_cast<std::uint64_t>(start));
  }
  mine.append(textOf(from, sent.total()));
  auto* const bytes = static_cast<char*>(to);
  const std::size_t rank = indexOf(map().rank());
  return start(
      kDataLane, std::move(mine),
      [append](const ByRank& byRank) {
        std::string all;
        for (const std::string& message : byRank) {
          append(all, message.size());
          all += message;
        }
        return all;
      },
      [bytes, &received, ranks, rank](const std::string& answer) {
        std::size_t at = 0;
        for (std::size_t other = 0; other < ranks; ++other) {
          std::uint64_t size = 0;
          std::memcpy(&size, answer.data() + at, sizeof size);
          const std::string message = answer.substr(at + sizeof size, size);
          at += sizeof size + size;
          const std::size_t count = indexOf(received.counts[other]);
          std::uint64_t offset = 0;
          std::memcpy(&offset, message.data() + rank * sizeof offset, sizeof offset);
          const std::size_t begin = ranks * sizeof offset + offset;
          if (begin + count > message.size()) {
            checkSize(message, begin + count);
          }
          if (count > 0) {
            std::memcpy(bytes + received.starts[other], message.data() + begin, count);
          }
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
    store_->add(kNotes, 1);
  } catch (const Error&) {
    // Notes only improve messages: an operation reports that the store is lost.
  }
}

bool StoreTransport::takeNote(int& rank, StallNote& note) {
  if (nextNote_ == 0 && Clock::now() < nextNotes_) {
    return false;
  }
  try {
    // One question while there is nothing new, instead of one for each rank.
    if (nextNote_ == 0) {
      const std::int64_t notes = store_->add(kNotes, 0);
      nextNote_ = std::exchange(countedNotes_, notes) == notes ? map().size() : 0;
    }
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
  nextNotes_ = Clock::now() + betweenLooksOf(map(), kBetweenNotes);
  return false;
}

}  // namespace steptape::c10d::detail
