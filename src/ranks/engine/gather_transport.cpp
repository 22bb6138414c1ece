// SPDX-License-Identifier: Apache-2.0
#include "ranks/engine/gather_transport.h"

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstring>
#include <utility>

#include "steptape/base/status.h"
#include "steptape/ranks/communicator.h"

#include "base/got_expected.h"
#include "ranks/communicator/poll_pause.h"
#include "ranks/communicator/posix_node_memory.h"
#include "ranks/engine/place_message.h"
#include "ranks/engine/stuck.h"

namespace steptape::detail::ranks {

GatheringRanks::~GatheringRanks() = default;

void* GatheringRanks::startSend(int /*rank*/, const void* /*data*/, std::size_t /*bytes*/) const {
  return nullptr;  // not called: see canSend()
}

int GatheringRanks::receive(void* /*data*/, std::size_t /*bytes*/) const {
  return -1;
}

namespace {

GroupMap nodesOf(const GatheringRanks& job) {
  std::vector<PlaceMessage> messages(job.ranks());
  messages[static_cast<std::size_t>(job.rank())] = PlaceMessage::of({0, Communicator().nodeName()});
  void* const operation =
      job.startGather(GatheringRanks::kData, messages.data(), sizeof(PlaceMessage));
  PollPause pause{std::chrono::minutes(10)};
  while (!job.hasEnded(operation)) {
    if (!pause.next()) {
      throw Error(ErrorCode::kDeadlineExceeded,
                  "opening the run of a job: " +
                      base::gotExpected("no word from some ranks within ten minutes",
                                        "the call on all " + std::to_string(job.ranks())));
    }
  }
  for (PlaceMessage& message : messages) {
    // A node is known by its first rank.
    const auto first = std::find_if(messages.begin(), messages.end(), [&](const auto& other) {
      return other.nodeName == message.nodeName;
    });
    message.nodeId = static_cast<int>(first - messages.begin());
  }
  return groupMapOf(messages, job.rank());
}

}  // namespace

GatherTransport::GatherTransport(std::shared_ptr<const GatheringRanks> ranks, GroupMap map)
    : Transport(std::move(map), INT_MAX), ranks_(std::move(ranks)) {}

GatherTransport::~GatherTransport() {
  // What is in flight may still write to its memory.
  for (std::unique_ptr<Operation>& operation : known_) {
    if (operation->handle != nullptr) {
      static_cast<void>(operation.release());
    }
  }
  if (ranks_->isUsable()) {
    forgetReceivedNotes();
  }
  for (std::unique_ptr<SentNote>& sent : sentNotes_) {
    static_cast<void>(sent.release());
  }
}

GatherTransport::Operation GatherTransport::gathering(const void* mine, std::size_t bytes) const {
  Operation operation;
  operation.bytes = bytes;
  operation.buffer.resize(ranks_->ranks() * bytes);
  std::memcpy(operation.buffer.data() + static_cast<std::size_t>(map().rank()) * bytes, mine,
              bytes);
  return operation;
}

Transfer GatherTransport::add(Operation operation) {
  const Lane lane = operation.lane;
  Operation* const kept =
      known_.emplace_back(std::make_unique<Operation>(std::move(operation))).get();
  if (kept->all == nullptr) {
    kept->all = kept->buffer.data();
  }
  lanes_[lane].push_back(kept);
  advance(lane);
  return reinterpret_cast<Transfer>(kept);
}

void GatherTransport::advance(Lane lane) {
  std::deque<Operation*>& waiting = lanes_[lane];
  while (!waiting.empty()) {
    Operation& operation = *waiting.front();
    if (operation.handle == nullptr) {
      operation.handle = ranks_->startGather(lane, operation.all, operation.bytes);
    }
    if (!ranks_->hasEnded(operation.handle)) {
      return;
    }
    operation.handle = nullptr;
    if (operation.then == nullptr || operation.then(&operation)) {
      operation.isDone = true;
      waiting.pop_front();
    }
  }
}

bool GatherTransport::hasEnded(Transfer& transfer) {
  const auto found = std::find_if(known_.begin(), known_.end(), [&](const auto& operation) {
    return reinterpret_cast<Transfer>(operation.get()) == transfer;
  });
  if (found == known_.end()) {
    transfer = 0;
    return true;
  }
  Operation& operation = **found;
  if (!operation.isDone) {
    advance(operation.lane);
  }
  if (operation.isDone) {
    known_.erase(found);
    transfer = 0;
  }
  return transfer == 0;
}

Transfer GatherTransport::compare(ComparedMessage& message) {
  constexpr std::size_t kBytes = ComparedMessage::kBytes;
  Operation operation = gathering(&message, kBytes);
  operation.lane = Lane::kComparisons;
  operation.then = [this, &message](Operation* ended) {
    for (int rank = 0; rank < map().size(); ++rank) {
      message.mergeInOrder(rank, ended->buffer.data() + static_cast<std::size_t>(rank) * kBytes);
    }
    return true;
  };
  return add(std::move(operation));
}

Transfer GatherTransport::gatherReports(char* all, std::size_t bytesPerRank) {
  Operation operation;
  operation.lane = Lane::kReports;
  operation.all = all;
  operation.bytes = bytesPerRank;
  return add(std::move(operation));
}

Transfer GatherTransport::barrier() {
  return add(gathering("", 1));
}

Transfer GatherTransport::broadcast(void* data, std::size_t bytes, int root) {
  Operation operation = gathering(data, bytes);
  operation.then = [data, bytes, root](Operation* ended) {
    std::memcpy(data, ended->buffer.data() + static_cast<std::size_t>(root) * bytes, bytes);
    return true;
  };
  return add(std::move(operation));
}

Transfer GatherTransport::allgather(void* all, std::size_t bytesPerRank) {
  Operation operation;
  operation.all = all;
  operation.bytes = bytesPerRank;
  return add(std::move(operation));
}

Transfer GatherTransport::gatherAny(
    std::string mine,
    std::function<void(const char* all, std::size_t stride, const std::uint64_t* sizes)> use) {
  const auto rank = static_cast<std::size_t>(map().rank());
  const std::size_t count = ranks_->ranks();
  auto sizes = std::make_shared<std::vector<std::uint64_t>>(count);
  (*sizes)[rank] = mine.size();
  Operation operation;
  operation.bytes = sizeof(std::uint64_t);
  operation.all = sizes->data();
  operation.mine = std::move(mine);
  operation.then = [=, use = std::move(use)](Operation* ended) {
    const std::size_t stride = *std::max_element(sizes->begin(), sizes->end());
    if (ended->buffer.empty() && stride > 0) {
      ended->buffer.resize(count * stride);
      std::memcpy(&ended->buffer[rank * stride], ended->mine.data(), ended->mine.size());
      ended->all = ended->buffer.data();
      ended->bytes = stride;
      return false;
    }
    use(ended->buffer.data(), stride, sizes->data());
    return true;
  };
  return add(std::move(operation));
}

Transfer GatherTransport::allgatherv(void* all, const RankParts& parts) {
  char* const to = static_cast<char*>(all);
  const auto rank = static_cast<std::size_t>(map().rank());
  return gatherAny(
      std::string(to + parts.starts[rank], static_cast<std::size_t>(parts.counts[rank])),
      [to, starts = parts.starts](const char* from, std::size_t stride,
                                  const std::uint64_t* sizes) {
        for (std::size_t r = 0; r < starts.size(); ++r) {
          std::memcpy(to + starts[r], from + r * stride, sizes[r]);
        }
      });
}

Transfer GatherTransport::gatherv(const void* mine, std::size_t bytes, int root, void* all,
                                  const RankParts& parts) {
  const bool isRoot = map().rank() == root;
  return gatherAny(std::string(static_cast<const char*>(mine), bytes),
                   [isRoot, to = static_cast<char*>(all), starts = parts.starts](
                       const char* from, std::size_t stride, const std::uint64_t* sizes) {
                     for (std::size_t r = 0; isRoot && r < starts.size(); ++r) {
                       std::memcpy(to + starts[r], from + r * stride, sizes[r]);
                     }
                   });
}

Transfer GatherTransport::alltoallv(const void* from, const RankParts& sent, void* to,
                                    const RankParts& received) {
  // Each rank gets everything, and takes its part: first come the sizes of all parts.
  const std::size_t count = ranks_->ranks();
  std::string mine(count * sizeof(int), '\0');
  std::memcpy(mine.data(), sent.counts.data(), mine.size());
  for (std::size_t r = 0; r < count; ++r) {
    mine.append(static_cast<const char*>(from) + sent.starts[r],
                static_cast<std::size_t>(sent.counts[r]));
  }
  const auto rank = static_cast<std::size_t>(map().rank());
  return gatherAny(
      std::move(mine), [count, rank, to = static_cast<char*>(to), starts = received.starts](
                           const char* all, std::size_t stride, const std::uint64_t* /*sizes*/) {
        std::vector<int> counts(count);
        for (std::size_t r = 0; r < count; ++r) {
          const char* const part = all + r * stride;
          std::memcpy(counts.data(), part, count * sizeof(int));
          std::size_t before = count * sizeof(int);
          for (std::size_t other = 0; other < rank; ++other) {
            before += static_cast<std::size_t>(counts[other]);
          }
          std::memcpy(to + starts[r], part + before, static_cast<std::size_t>(counts[rank]));
        }
      });
}

bool GatherTransport::canReduce(const CollectiveCall& /*call*/) const {
  return false;
}

Transfer GatherTransport::allreduce(const CollectiveCall& /*call*/, std::size_t /*offset*/,
                                    std::size_t /*count*/) {
  return 0;  // not called: see canReduce()
}

Transfer GatherTransport::reduceScatter(const CollectiveCall& /*call*/,
                                        const std::vector<int>& /*counts*/) {
  return 0;  // not called: see canReduce()
}

void GatherTransport::postNote(const StallNote& note) {
  if (!passesNotes()) {
    return;
  }
  forgetReceivedNotes();
  auto sent = std::make_unique<SentNote>();
  sent->note = note;
  for (int rank = 0; rank < map().size(); ++rank) {
    if (rank != map().rank()) {
      sent->sends.push_back(ranks_->startSend(rank, &sent->note, sizeof sent->note));
    }
  }
  sentNotes_.push_back(std::move(sent));
}

void GatherTransport::forgetReceivedNotes() {
  for (const std::unique_ptr<SentNote>& sent : sentNotes_) {
    sent->sends.erase(std::remove_if(sent->sends.begin(), sent->sends.end(),
                                     [&](void* send) { return ranks_->hasEnded(send); }),
                      sent->sends.end());
  }
  sentNotes_.erase(std::remove_if(sentNotes_.begin(), sentNotes_.end(),
                                  [](const auto& sent) { return sent->sends.empty(); }),
                   sentNotes_.end());
}

bool GatherTransport::takeNote(int& rank, StallNote& note) {
  rank = passesNotes() ? ranks_->receive(&note, sizeof note) : -1;
  return rank >= 0;
}

GatherCommunicator::GatherCommunicator(const std::shared_ptr<const GatheringRanks>& job)
    : EngineCommunicator(std::make_shared<GatherTransport>(job, nodesOf(*job))) {}

std::shared_ptr<Communicator> GatherCommunicator::split(int /*color*/, int /*key*/) {
  throw Error(ErrorCode::kFailedPrecondition,
              "split: " + base::gotExpected("ranks that reach each other by functions of a program",
                                            "a communicator of Steptape's, which makes groups"));
}

std::shared_ptr<NodeMemory> GatherCommunicator::allocateNodeMemory(std::size_t bytes,
                                                                   std::string* why) {
  std::shared_ptr<NodeMemory> memory =
      PosixNodeMemory::tryMake(*this, map(), bytes, why, &markStuck);
  if (memory) {
    shareSettings(*memory);
  }
  return memory;
}

}  // namespace steptape::detail::ranks
