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

constexpr std::size_t kLine = 64;

// The block of each rank: counters and a note, each with cache lines of its own, then the slots.
constexpr std::size_t kLatestAt = 0;
constexpr std::size_t kCountersAt = kLine;
constexpr std::size_t kNoteAt = 4 * kLine;
constexpr std::size_t kSlotsAt = 16 * kLine;

constexpr std::size_t kReportBytes = 512;

constexpr std::size_t roundUp(std::size_t bytes, std::size_t to) {
  return (bytes + to - 1) / to * to;
}

/// Returns the bytes of a slot for data. Two slots of each of a few ranks fit a second-level cache.
std::size_t dataSlotBytes(int ranks) {
  constexpr std::size_t kMost = std::size_t{128} << 10;
  constexpr std::size_t kLeast = std::size_t{16} << 10;
  return std::max(kLeast,
                  std::min(kMost, (std::size_t{1} << 20) / static_cast<std::size_t>(ranks)));
}

std::size_t slotStride(std::size_t slotBytes) {
  return kLine + roundUp(slotBytes, kLine);
}

std::size_t blockBytesFor(int ranks) {
  constexpr std::size_t kPage = 4096;
  return roundUp(kSlotsAt + 2 * (slotStride(ComparedMessage::kBytes) + slotStride(kReportBytes) +
                                 slotStride(dataSlotBytes(ranks))),
                 kPage);
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

std::size_t NodeTransport::bytesFor(int ranks) {
  return blockBytesFor(ranks) * static_cast<std::size_t>(ranks);
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
      blockBytes_(blockBytesFor(this->map().size())),
      base_(memory_->data()),
      rank_(this->map().rank()),
      size_(this->map().size()),
      seenLatest_(static_cast<std::size_t>(size_), 0),
      seenVersion_(static_cast<std::size_t>(size_), 0) {
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
  static_assert(kNoteAt + sizeof(NoteCell) <= kSlotsAt);
  const std::size_t slotBytes[kLanes] = {ComparedMessage::kBytes, kReportBytes,
                                         dataSlotBytes(size_)};
  std::size_t at = kSlotsAt;
  for (std::size_t number = 0; number < kLanes; ++number) {
    Lane& lane = lanes_[number];
    lane.counterAt = kCountersAt + number * kLine;
    lane.slotsAt = at;
    lane.slotBytes = slotBytes[number];
    at += 2 * slotStride(lane.slotBytes);
  }
}

std::byte* NodeTransport::slotOf(const Lane& lane, int rank) const {
  return base_ + static_cast<std::size_t>(rank) * blockBytes_ + lane.slotsAt +
         lane.slot * slotStride(lane.slotBytes);
}

// Not constructed: zero bytes are counters at zero.
std::atomic<std::uint64_t>& NodeTransport::counterAt(int rank, std::size_t offset) const {
  return *reinterpret_cast<std::atomic<std::uint64_t>*>(
      base_ + static_cast<std::size_t>(rank) * blockBytes_ + offset);
}

NodeTransport::NoteCell& NodeTransport::noteOf(int rank) const {
  return *reinterpret_cast<NoteCell*>(base_ + static_cast<std::size_t>(rank) * blockBytes_ +
                                      kNoteAt);
}

Transfer NodeTransport::compare(ComparedMessage& message) {
  Operation operation;
  operation.kind = Kind::kCompare;
  operation.message = &message;
  return start(kComparisons, operation);
}

Transfer NodeTransport::gatherReports(char* all, std::size_t bytesPerRank) {
  Operation operation;
  operation.kind = Kind::kAllgather;
  operation.to = reinterpret_cast<std::byte*>(all);
  operation.bytes = operation.most = bytesPerRank;
  return start(kReports, operation);
}

Transfer NodeTransport::barrier() {
  return start(kData, Operation());
}

Transfer NodeTransport::broadcast(void* data, std::size_t bytes, int root) {
  Operation operation;
  operation.kind = Kind::kBroadcast;
  operation.to = static_cast<std::byte*>(data);
  operation.bytes = operation.most = bytes;
  operation.root = root;
  return start(kData, operation);
}

Transfer NodeTransport::allgather(void* all, std::size_t bytesPerRank) {
  Operation operation;
  operation.kind = Kind::kAllgather;
  operation.to = static_cast<std::byte*>(all);
  operation.bytes = operation.most = bytesPerRank;
  return start(kData, operation);
}

Transfer NodeTransport::allgatherv(void* all, const RankParts& parts) {
  Operation operation;
  operation.kind = Kind::kAllgather;
  operation.to = static_cast<std::byte*>(all);
  operation.received = &parts;
  operation.bytes = parts.total();
  operation.most =
      static_cast<std::size_t>(*std::max_element(parts.counts.begin(), parts.counts.end()));
  return start(kData, operation);
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
  return start(kData, operation);
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
  return start(kData, operation);
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
  return start(kData, operation);
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
  return start(kData, operation);
}

Transfer NodeTransport::start(LaneNumber number, Operation operation) {
  Lane& lane = lanes_[number];
  lane.operations.push_back(operation);
  const std::uint64_t own = ++lane.started;
  advance(lane);
  return lane.ended >= own ? 0 : own * kLanes + number;
}

bool NodeTransport::hasEnded(Transfer& transfer) {
  Lane& lane = lanes_[transfer % kLanes];
  const std::uint64_t own = transfer / kLanes;
  if (lane.ended < own) {
    advance(lane);
  }
  if (lane.ended < own) {
    return false;
  }
  transfer = 0;
  return true;
}

void NodeTransport::advance(Lane& lane) {
  while (lane.first < lane.operations.size() && advance(lane, lane.operations[lane.first])) {
    ++lane.first;
    ++lane.ended;
  }
  if (lane.first == lane.operations.size()) {
    lane.operations.clear();
    lane.first = 0;
  }
}

bool NodeTransport::advance(Lane& lane, Operation& operation) {
  while (true) {
    if (operation.step == Step::kWrite) {
      write(lane, operation);
      arrive(lane);
      operation.step = Step::kRead;
    }
    if (!haveAllArrived(lane)) {
      return false;
    }
    if (read(lane, operation)) {
      return true;
    }
  }
}

void NodeTransport::arrive(Lane& lane) {
  lane.nextToArrive = 0;
  counterAt(rank_, lane.counterAt).store(++lane.arrivals, std::memory_order_release);
}

bool NodeTransport::haveAllArrived(Lane& lane) {
  while (lane.nextToArrive < size_ &&
         counterAt(lane.nextToArrive, lane.counterAt).load(std::memory_order_acquire) >=
             lane.arrivals) {
    ++lane.nextToArrive;
  }
  return lane.nextToArrive == size_;
}

std::size_t NodeTransport::chunkBytes(const Lane& lane, const Operation& operation, int ranks) {
  const std::size_t element = operation.call == nullptr ? 1 : elementBytes(*operation.call);
  const bool hasSections =
      operation.kind == Kind::kAlltoall || operation.kind == Kind::kReduceScatter;
  const std::size_t room =
      hasSections ? lane.slotBytes / static_cast<std::size_t>(ranks) : lane.slotBytes;
  return room / element * element;
}

bool NodeTransport::sharesTheWork(const Operation& operation, std::size_t bytes) const {
  // Two ranks read each other's elements once in any case. Few elements are combined in less time
  // than another meeting of the ranks takes.
  constexpr std::size_t kFew = 4096;
  return operation.kind == Kind::kAllreduce && size_ > 2 && bytes > kFew;
}

void NodeTransport::write(Lane& lane, Operation& operation) {
  std::byte* const slot = slotOf(lane, rank_);
  if (operation.kind == Kind::kCompare) {
    std::memcpy(slot + kLine, operation.message, ComparedMessage::kBytes);
    return;
  }
  SlotHead head{operation.most, 0};
  head.fingerprint = static_cast<std::uint64_t>(operation.kind) |
                     static_cast<std::uint64_t>(operation.root) << 8 | operation.bytes << 24;
  std::memcpy(slot, &head, sizeof head);
  std::byte* const to = slot + kLine;
  const std::size_t chunk = chunkBytes(lane, operation, size_);
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

bool NodeTransport::read(Lane& lane, Operation& operation) {
  if (operation.kind == Kind::kCompare) {
    for (int rank = 0; rank < size_; ++rank) {
      operation.message->mergeInOrder(rank, slotOf(lane, rank) + kLine);
    }
    lane.slot ^= 1U;
    return true;
  }
  const std::size_t chunk = chunkBytes(lane, operation, size_);
  if (operation.step == Step::kReadCombined) {
    readSections(lane, operation);
  } else {
    checkHeads(lane, operation);
    if (sharesTheWork(operation, inRound(operation.bytes, operation.done, chunk))) {
      combineSection(lane, operation);
      arrive(lane);
      operation.step = Step::kReadCombined;
      return false;
    }
    switch (operation.kind) {
      case Kind::kBarrier:
      case Kind::kCompare:
        break;
      case Kind::kBroadcast:
        if (operation.root != rank_) {
          copyTo(operation.to + operation.done, slotOf(lane, operation.root) + kLine,
                 inRound(operation.bytes, operation.done, chunk));
        }
        break;
      case Kind::kAllgather:
        readAllgather(lane, operation);
        break;
      case Kind::kGather:
        readGather(lane, operation);
        break;
      case Kind::kAlltoall:
        readAlltoall(lane, operation);
        break;
      case Kind::kAllreduce:
        readAllreduce(lane, operation);
        break;
      case Kind::kReduceScatter:
        readReduceScatter(lane, operation);
        break;
    }
  }
  operation.done += chunk;
  operation.step = Step::kWrite;
  lane.slot ^= 1U;
  return operation.done >= operation.most;
}

void NodeTransport::checkHeads(const Lane& lane, Operation& operation) const {
  SlotHead mine{};
  std::memcpy(&mine, slotOf(lane, rank_), sizeof mine);
  for (int other = 0; other < size_; ++other) {
    SlotHead head{};
    std::memcpy(&head, slotOf(lane, other), sizeof head);
    if (head.fingerprint != mine.fingerprint) {
      throw TransportFailure(
          ErrorCode::kRankMismatch,
          map().nameOf(other) + " passed another size, or is in another operation");
    }
    operation.most = std::max<std::size_t>(operation.most, head.most);
  }
}

void NodeTransport::readAllgather(const Lane& lane, const Operation& operation) {
  const std::size_t chunk = chunkBytes(lane, operation, size_);
  for (int rank = 0; rank < size_; ++rank) {
    if (rank != rank_) {
      const Section part = gatheredFrom(operation, rank);
      copyTo(operation.to + part.begin + operation.done, slotOf(lane, rank) + kLine,
             inRound(part.bytes, operation.done, chunk));
    }
  }
}

void NodeTransport::readGather(const Lane& lane, const Operation& operation) {
  if (rank_ != operation.root) {
    return;
  }
  const std::size_t chunk = chunkBytes(lane, operation, size_);
  for (int rank = 0; rank < size_; ++rank) {
    const Section part = gatheredFrom(operation, rank);
    copyTo(operation.to + part.begin + operation.done, slotOf(lane, rank) + kLine,
           inRound(part.bytes, operation.done, chunk));
  }
}

void NodeTransport::readAlltoall(const Lane& lane, const Operation& operation) {
  const std::size_t chunk = chunkBytes(lane, operation, size_);
  for (int rank = 0; rank < size_; ++rank) {
    const auto index = static_cast<std::size_t>(rank);
    copyTo(operation.to + operation.received->starts[index] + operation.done,
           slotOf(lane, rank) + kLine + static_cast<std::size_t>(rank_) * chunk,
           inRound(static_cast<std::size_t>(operation.received->counts[index]), operation.done,
                   chunk));
  }
}

void NodeTransport::readAllreduce(const Lane& lane, const Operation& operation) {
  const std::size_t bytes =
      inRound(operation.bytes, operation.done, chunkBytes(lane, operation, size_));
  parts_.clear();
  for (int rank = 0; rank < size_; ++rank) {
    // Its own elements are in the caller's memory as well, and nearer.
    parts_.push_back(rank == rank_ ? operation.from + operation.done : slotOf(lane, rank) + kLine);
  }
  combineParts(*operation.call, combinedBy(*operation.call), parts_,
               bytes / elementBytes(*operation.call), operation.to + operation.done);
}

void NodeTransport::readReduceScatter(const Lane& lane, const Operation& operation) {
  const std::size_t element = elementBytes(*operation.call);
  const std::size_t chunk = chunkBytes(lane, operation, size_);
  const std::size_t mine =
      static_cast<std::size_t>((*operation.counts)[static_cast<std::size_t>(rank_)]) * element;
  parts_.clear();
  for (int rank = 0; rank < size_; ++rank) {
    parts_.push_back(slotOf(lane, rank) + kLine + static_cast<std::size_t>(rank_) * chunk);
  }
  const std::size_t bytes = inRound(mine, operation.done, chunk);
  if (bytes > 0) {
    combineParts(*operation.call, combinedBy(*operation.call), parts_, bytes / element,
                 operation.to + operation.done);
  }
}

void NodeTransport::combineSection(const Lane& lane, const Operation& operation) {
  const std::size_t element = elementBytes(*operation.call);
  const std::size_t bytes =
      inRound(operation.bytes, operation.done, chunkBytes(lane, operation, size_));
  const Section section = sectionOf(rank_, size_, bytes, element);
  parts_.clear();
  for (int rank = 0; rank < size_; ++rank) {
    parts_.push_back(slotOf(lane, rank) + kLine + section.begin);
  }
  combineParts(*operation.call, combinedBy(*operation.call), parts_, section.bytes / element,
               slotOf(lane, rank_) + kLine + section.begin);
}

void NodeTransport::readSections(const Lane& lane, const Operation& operation) {
  const std::size_t bytes =
      inRound(operation.bytes, operation.done, chunkBytes(lane, operation, size_));
  for (int rank = 0; rank < size_; ++rank) {
    const Section section = sectionOf(rank, size_, bytes, elementBytes(*operation.call));
    copyTo(operation.to + operation.done + section.begin,
           slotOf(lane, rank) + kLine + section.begin, section.bytes);
  }
}

void NodeTransport::postNote(const StallNote& note) {
  NoteCell& cell = noteOf(rank_);
  std::array<std::uint64_t, std::tuple_size_v<decltype(NoteCell::words)>> words;
  static_assert(sizeof words == sizeof note);
  std::memcpy(words.data(), &note, sizeof note);
  cell.version.fetch_add(1, std::memory_order_acq_rel);
  for (std::size_t i = 0; i < words.size(); ++i) {
    cell.words[i].store(words[i], std::memory_order_release);
  }
  cell.version.fetch_add(1, std::memory_order_release);
}

bool NodeTransport::takeNote(int& rank, StallNote& note) {
  for (int other = 0; other < size_; ++other) {
    const auto index = static_cast<std::size_t>(other);
    if (other == rank_) {
      continue;
    }
    const std::uint64_t latest = counterAt(other, kLatestAt).load(std::memory_order_acquire);
    const NoteCell& cell = noteOf(other);
    const std::uint64_t version = cell.version.load(std::memory_order_acquire);
    if (version % 2 != 0 || (latest == seenLatest_[index] && version == seenVersion_[index])) {
      continue;
    }
    std::array<std::uint64_t, std::tuple_size_v<decltype(NoteCell::words)>> words;
    for (std::size_t i = 0; i < words.size(); ++i) {
      words[i] = cell.words[i].load(std::memory_order_acquire);
    }
    if (cell.version.load(std::memory_order_acquire) != version) {
      continue;  // it is being written; the next look reads it
    }
    std::memcpy(static_cast<void*>(&note), words.data(), sizeof note);
    if (latest > note.latest) {
      note.latest = latest;
      note.call.front() = '\0';  // it has left the wait that it told of
    }
    seenLatest_[index] = latest;
    seenVersion_[index] = version;
    rank = other;
    return true;
  }
  return false;
}

void NodeTransport::noteLatest(std::uint64_t latest) {
  counterAt(rank_, kLatestAt).store(latest, std::memory_order_release);
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
