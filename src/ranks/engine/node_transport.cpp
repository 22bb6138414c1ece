// SPDX-License-Identifier: Apache-2.0
#include "ranks/engine/node_transport.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <utility>

#include "steptape/base/status.h"

#include "ranks/communicator/posix_node_memory.h"
#include "ranks/engine/combined_parts.h"
#include "ranks/engine/engine_communicator.h"
#include "ranks/engine/stuck.h"

namespace steptape::detail::ranks {
namespace {

/// Returns how many of `bytes` after the first `done` are in a round of `chunk` bytes.
std::size_t inRound(std::size_t bytes, std::size_t done, std::size_t chunk) {
  return std::min(chunk, bytes - std::min(bytes, done));
}

void copyTo(void* to, const void* from, std::size_t bytes) {
  if (bytes > 0) {
    std::memcpy(to, from, bytes);
  }
}

}  // namespace

/// A part of the bytes of all ranks.
struct NodeTransport::Section {
  std::size_t begin;
  std::size_t bytes;
};

NodeTransport::Section NodeTransport::sectionOf(int rank, int ranks, std::size_t bytes,
                                                std::size_t element) {
  const std::size_t count = bytes / element;
  const auto index = static_cast<std::size_t>(rank);
  const auto all = static_cast<std::size_t>(ranks);
  const std::size_t begin = count * index / all;
  return {begin * element, (count * (index + 1) / all - begin) * element};
}

NodeTransport::Section NodeTransport::gatheredFrom(const Operation& operation, int rank) {
  const auto index = static_cast<std::size_t>(rank);
  if (operation.received == nullptr) {
    return {index * operation.bytes, operation.bytes};
  }
  return {static_cast<std::size_t>(operation.received->starts[index]),
          static_cast<std::size_t>(operation.received->counts[index])};
}

std::size_t NodeTransport::bytesFor(int ranks) {
  return SharedSlots::blockBytesFor(ranks) * static_cast<std::size_t>(ranks);
}

std::shared_ptr<NodeMemory> NodeTransport::tryMakeMemory(const std::shared_ptr<Transport>& setup,
                                                         std::chrono::milliseconds timeout,
                                                         std::string* why) {
  const GroupMap& map = setup->map();
  if (map.size() == 1 || map.localSize() != map.size()) {
    return nullptr;
  }
  EngineCommunicator communicator(setup);
  communicator.setTimeout(timeout);
  return PosixNodeMemory::tryMake(communicator, map, bytesFor(map.size()), why, &markStuck);
}

NodeTransport::NodeTransport(std::shared_ptr<NodeMemory> memory, GroupMap map)
    : Transport(std::move(map), INT_MAX),
      memory_(std::move(memory)),
      rank_(this->map().rank()),
      size_(this->map().size()),
      blocks_(memory_->data(), SharedSlots::blockBytesFor(size_), rank_, size_),
      slots_(SharedSlots::ofLanes(blocks_)),
      notes_(blocks_) {}

Transfer NodeTransport::compare(ComparedMessage& message) {
  Operation operation;
  operation.kind = Kind::kCompare;
  operation.message = &message;
  return start(kComparisonLane, operation);
}

Transfer NodeTransport::gatherReports(char* all, std::size_t bytesPerRank) {
  Operation operation;
  operation.kind = Kind::kAllgather;
  operation.to = reinterpret_cast<std::byte*>(all);
  operation.bytes = operation.most = bytesPerRank;
  return start(kReportLane, operation);
}

Transfer NodeTransport::barrier() {
  return start(kDataLane, Operation());
}

Transfer NodeTransport::broadcast(void* data, std::size_t bytes, int root) {
  Operation operation;
  operation.kind = Kind::kBroadcast;
  operation.to = static_cast<std::byte*>(data);
  operation.bytes = operation.most = bytes;
  operation.root = root;
  return start(kDataLane, operation);
}

Transfer NodeTransport::allgather(void* all, std::size_t bytesPerRank) {
  Operation operation;
  operation.kind = Kind::kAllgather;
  operation.to = static_cast<std::byte*>(all);
  operation.bytes = operation.most = bytesPerRank;
  return start(kDataLane, operation);
}

Transfer NodeTransport::allgatherv(void* all, const RankParts& parts) {
  Operation operation;
  operation.kind = Kind::kAllgather;
  operation.to = static_cast<std::byte*>(all);
  operation.received = &parts;
  operation.bytes = parts.total();
  operation.most =
      static_cast<std::size_t>(*std::max_element(parts.counts.begin(), parts.counts.end()));
  return start(kDataLane, operation);
}

Transfer NodeTransport::gatherv(const void* mine, std::size_t bytes, int root, void* all,
                                const RankParts& parts) {
  Operation operation;
  operation.kind = Kind::kGather;
  operation.root = root;
  operation.from = static_cast<const std::byte*>(mine);
  operation.to = static_cast<std::byte*>(all);
  operation.received = &parts;
  operation.own = operation.most = bytes;
  return start(kDataLane, operation);
}

Transfer NodeTransport::alltoallv(const void* from, const RankParts& sent, void* to,
                                  const RankParts& received) {
  Operation operation;
  operation.kind = Kind::kAlltoall;
  operation.from = static_cast<const std::byte*>(from);
  operation.to = static_cast<std::byte*>(to);
  operation.sent = &sent;
  operation.received = &received;
  operation.most =
      static_cast<std::size_t>(*std::max_element(sent.counts.begin(), sent.counts.end()));
  return start(kDataLane, operation);
}

bool NodeTransport::canReduce(const CollectiveCall& /*call*/) const {
  return true;
}

Transfer NodeTransport::allreduce(const CollectiveCall& call, std::size_t offset,
                                  std::size_t count) {
  const std::size_t element = elementBytes(call);
  Operation operation;
  operation.kind = Kind::kAllreduce;
  operation.call = &call;
  operation.from = static_cast<const std::byte*>(inputOf(call)) + offset * element;
  operation.to = static_cast<std::byte*>(call.output) + offset * element;
  operation.bytes = operation.most = count * element;
  return start(kDataLane, operation);
}

Transfer NodeTransport::reduceScatter(const CollectiveCall& call, const std::vector<int>& counts) {
  Operation operation;
  operation.kind = Kind::kReduceScatter;
  operation.call = &call;
  operation.from = static_cast<const std::byte*>(inputOf(call));
  operation.to = static_cast<std::byte*>(call.output);
  operation.counts = &counts;
  operation.bytes = call.inputCount * elementBytes(call);
  operation.most = static_cast<std::size_t>(*std::max_element(counts.begin(), counts.end())) *
                   elementBytes(call);
  return start(kDataLane, operation);
}

Transfer NodeTransport::start(LaneNumber lane, const Operation& operation) {
  const Transfer transfer = lanes_.add(lane, operation);
  advance(lane);
  return lanes_.hasEnded(transfer) ? 0 : transfer;
}

bool NodeTransport::hasEnded(Transfer& transfer) {
  if (!lanes_.hasEnded(transfer)) {
    advance(Lanes::laneOf(transfer));
    if (!lanes_.hasEnded(transfer)) {
      return false;
    }
  }
  transfer = 0;
  return true;
}

void NodeTransport::advance(std::size_t lane) {
  Operation* operation = lanes_.current(lane);
  while (operation != nullptr && advance(slots_[lane], *operation)) {
    lanes_.endCurrent(lane);
    operation = lanes_.current(lane);
  }
}

bool NodeTransport::advance(SharedSlots& slots, Operation& operation) {
  while (true) {
    if (operation.step == Step::kWrite) {
      write(slots, operation);
      slots.arrive();
      operation.step = Step::kRead;
    }
    if (!slots.haveAllArrived()) {
      return false;
    }
    if (read(slots, operation)) {
      return true;
    }
  }
}

std::size_t NodeTransport::chunkBytes(const SharedSlots& slots, const Operation& operation) {
  const std::size_t element = operation.call == nullptr ? 1 : elementBytes(*operation.call);
  const bool hasSections =
      operation.kind == Kind::kAlltoall || operation.kind == Kind::kReduceScatter;
  const std::size_t room =
      hasSections ? slots.bytes() / static_cast<std::size_t>(slots.size()) : slots.bytes();
  return room / element * element;
}

bool NodeTransport::sharesTheWork(const Operation& operation, std::size_t bytes) const {
  // Two ranks read each other's elements once in any case. Few elements are combined in less time
  // than another meeting of the ranks takes.
  constexpr std::size_t kFew = 4096;
  return operation.kind == Kind::kAllreduce && size_ > 2 && bytes > kFew;
}

void NodeTransport::write(SharedSlots& slots, Operation& operation) {
  if (operation.kind == Kind::kCompare) {
    std::memcpy(slots.dataOf(rank_), operation.message, ComparedMessage::kBytes);
    return;
  }
  SlotHead head{operation.most, 0};
  head.fingerprint = static_cast<std::uint64_t>(operation.kind) |
                     static_cast<std::uint64_t>(operation.root) << 8 | operation.bytes << 24;
  std::memcpy(slots.headOf(rank_), &head, sizeof head);
  std::byte* const to = slots.dataOf(rank_);
  const std::size_t chunk = chunkBytes(slots, operation);
  const std::size_t done = operation.done;
  switch (operation.kind) {
    case Kind::kBarrier:
    case Kind::kCompare:
      break;
    case Kind::kBroadcast:
      if (operation.root == rank_) {
        copyTo(to, operation.to + done, inRound(operation.bytes, done, chunk));
      }
      break;
    case Kind::kAllgather: {
      const Section mine = gatheredFrom(operation, rank_);
      copyTo(to, operation.to + mine.begin + done, inRound(mine.bytes, done, chunk));
      break;
    }
    case Kind::kGather:
      copyTo(to, operation.from + done, inRound(operation.own, done, chunk));
      break;
    case Kind::kAlltoall:
      for (std::size_t other = 0; other < operation.sent->counts.size(); ++other) {
        copyTo(to + other * chunk, operation.from + operation.sent->starts[other] + done,
               inRound(static_cast<std::size_t>(operation.sent->counts[other]), done, chunk));
      }
      break;
    case Kind::kAllreduce:
      copyTo(to, operation.from + done, inRound(operation.bytes, done, chunk));
      break;
    case Kind::kReduceScatter: {
      const std::size_t element = elementBytes(*operation.call);
      const std::byte* part = operation.from;
      for (std::size_t other = 0; other < operation.counts->size(); ++other) {
        const std::size_t bytes = static_cast<std::size_t>((*operation.counts)[other]) * element;
        copyTo(to + other * chunk, part + done, inRound(bytes, done, chunk));
        part += bytes;
      }
      break;
    }
  }
}

bool NodeTransport::read(SharedSlots& slots, Operation& operation) {
  if (operation.kind == Kind::kCompare) {
    for (int rank = 0; rank < size_; ++rank) {
      operation.message->mergeInOrder(rank, slots.dataOf(rank));
    }
    slots.turn();
    return true;
  }
  const std::size_t chunk = chunkBytes(slots, operation);
  if (operation.step == Step::kReadCombined) {
    readSections(slots, operation);
  } else {
    checkHeads(slots, operation);
    if (sharesTheWork(operation, inRound(operation.bytes, operation.done, chunk))) {
      combineSection(slots, operation);
      slots.arrive();
      operation.step = Step::kReadCombined;
      return false;
    }
    switch (operation.kind) {
      case Kind::kBarrier:
      case Kind::kCompare:
        break;
      case Kind::kBroadcast:
        if (operation.root != rank_) {
          copyTo(operation.to + operation.done, slots.dataOf(operation.root),
                 inRound(operation.bytes, operation.done, chunk));
        }
        break;
      case Kind::kAllgather:
      case Kind::kGather:
        readGathered(slots, operation);
        break;
      case Kind::kAlltoall:
        readAlltoall(slots, operation);
        break;
      case Kind::kAllreduce:
        readAllreduce(slots, operation);
        break;
      case Kind::kReduceScatter:
        readReduceScatter(slots, operation);
        break;
    }
  }
  operation.done += chunk;
  operation.step = Step::kWrite;
  slots.turn();
  return operation.done >= operation.most;
}

void NodeTransport::checkHeads(const SharedSlots& slots, Operation& operation) const {
  SlotHead mine{};
  std::memcpy(&mine, slots.headOf(rank_), sizeof mine);
  for (int other = 0; other < size_; ++other) {
    SlotHead head{};
    std::memcpy(&head, slots.headOf(other), sizeof head);
    if (head.fingerprint != mine.fingerprint) {
      throw TransportFailure(
          ErrorCode::kRankMismatch,
          map().nameOf(other) + " passed another size, or is in another operation");
    }
    operation.most = std::max<std::size_t>(operation.most, head.most);
  }
}

void NodeTransport::readGathered(const SharedSlots& slots, const Operation& operation) {
  // In an allgather, this rank's part is already in its place.
  const bool isForAll = operation.kind == Kind::kAllgather;
  if (!isForAll && rank_ != operation.root) {
    return;
  }
  const std::size_t chunk = chunkBytes(slots, operation);
  for (int rank = 0; rank < size_; ++rank) {
    if (!isForAll || rank != rank_) {
      const Section part = gatheredFrom(operation, rank);
      copyTo(operation.to + part.begin + operation.done, slots.dataOf(rank),
             inRound(part.bytes, operation.done, chunk));
    }
  }
}

void NodeTransport::readAlltoall(const SharedSlots& slots, const Operation& operation) {
  const std::size_t chunk = chunkBytes(slots, operation);
  for (int rank = 0; rank < size_; ++rank) {
    const auto index = static_cast<std::size_t>(rank);
    copyTo(operation.to + operation.received->starts[index] + operation.done,
           slots.dataOf(rank) + static_cast<std::size_t>(rank_) * chunk,
           inRound(static_cast<std::size_t>(operation.received->counts[index]), operation.done,
                   chunk));
  }
}

void NodeTransport::takeParts(const SharedSlots& slots, std::size_t offset) {
  parts_.clear();
  for (int rank = 0; rank < size_; ++rank) {
    parts_.push_back(slots.dataOf(rank) + offset);
  }
}

void NodeTransport::readAllreduce(const SharedSlots& slots, const Operation& operation) {
  const std::size_t bytes = inRound(operation.bytes, operation.done, chunkBytes(slots, operation));
  takeParts(slots, 0);
  // Its own elements are in the caller's memory as well, and nearer.
  parts_[static_cast<std::size_t>(rank_)] = operation.from + operation.done;
  combineParts(*operation.call, combinedBy(*operation.call), parts_,
               bytes / elementBytes(*operation.call), operation.to + operation.done);
}

void NodeTransport::readReduceScatter(const SharedSlots& slots, const Operation& operation) {
  const std::size_t element = elementBytes(*operation.call);
  const std::size_t chunk = chunkBytes(slots, operation);
  const std::size_t mine =
      static_cast<std::size_t>((*operation.counts)[static_cast<std::size_t>(rank_)]) * element;
  takeParts(slots, static_cast<std::size_t>(rank_) * chunk);
  const std::size_t bytes = inRound(mine, operation.done, chunk);
  if (bytes > 0) {
    combineParts(*operation.call, combinedBy(*operation.call), parts_, bytes / element,
                 operation.to + operation.done);
  }
}

void NodeTransport::combineSection(const SharedSlots& slots, const Operation& operation) {
  const std::size_t element = elementBytes(*operation.call);
  const std::size_t bytes = inRound(operation.bytes, operation.done, chunkBytes(slots, operation));
  const Section section = sectionOf(rank_, size_, bytes, element);
  takeParts(slots, section.begin);
  combineParts(*operation.call, combinedBy(*operation.call), parts_, section.bytes / element,
               slots.dataOf(rank_) + section.begin);
}

void NodeTransport::readSections(const SharedSlots& slots, const Operation& operation) {
  const std::size_t bytes = inRound(operation.bytes, operation.done, chunkBytes(slots, operation));
  for (int rank = 0; rank < size_; ++rank) {
    const Section section = sectionOf(rank, size_, bytes, elementBytes(*operation.call));
    copyTo(operation.to + operation.done + section.begin, slots.dataOf(rank) + section.begin,
           section.bytes);
  }
}

void NodeTransport::noteBroken(const std::string& why) {
  memory_->reportGivenUp(why);
}

std::string NodeTransport::lostBecause() {
  try {
    memory_->checkPeers();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace steptape::detail::ranks
