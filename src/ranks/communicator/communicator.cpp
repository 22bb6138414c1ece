// SPDX-License-Identifier: Apache-2.0
#include "steptape/ranks/communicator.h"

#include <algorithm>
#include <array>
#include <iostream>
#include <unistd.h>
#include <utility>

#include "base/got_expected.h"
#include "base/text.h"
#include "ranks/communicator/collective_details.h"
#include "ranks/communicator/collective_state.h"
#include "ranks/communicator/device_exchange.h"
#include "ranks/communicator/private_node_memory.h"

namespace steptape {
namespace {

std::string hostName() {
  std::array<char, 256> name{};
  // POSIX does not terminate a name that was truncated, so the last byte stays zero.
  if (gethostname(name.data(), name.size() - 1) != 0) {
    return "unknown";
  }
  return name.data();
}

void checkRanks(const std::vector<int>& ranks, int size) {
  std::vector<bool> isIn(static_cast<std::size_t>(size), false);
  for (const int rank : ranks) {
    if (rank < 0 || rank >= size) {
      detail::base::reject("rank " + std::to_string(rank), "0 to " + std::to_string(size - 1),
                           "subgroup");
    }
    if (isIn[static_cast<std::size_t>(rank)]) {
      detail::base::reject(
          "rank " + std::to_string(rank) + " twice in " + detail::base::commaSeparated(ranks),
          "each rank at most once", "subgroup");
    }
    isIn[static_cast<std::size_t>(rank)] = true;
  }
}

}  // namespace

Communicator::Communicator()
    : nodeName_(hostName()), droppedError_(std::make_shared<std::string>()) {}
Communicator::~Communicator() = default;

int Communicator::rank() const {
  return 0;
}
int Communicator::size() const {
  return 1;
}
int Communicator::localRank() const {
  return 0;
}
int Communicator::localSize() const {
  return 1;
}
int Communicator::crossRank() const {
  return 0;
}
int Communicator::crossSize() const {
  return 1;
}
const std::string& Communicator::nodeName() const {
  return nodeName_;
}
std::unique_ptr<detail::ranks::DeviceExchange> Communicator::makeDeviceExchange() {
  return nullptr;
}

bool Communicator::worksOnAnyThread() const {
  return true;
}

std::shared_ptr<Communicator> Communicator::split(int color, int /*key*/) {
  if (color < 0) {
    return nullptr;
  }
  auto group = std::make_shared<Communicator>();
  shareSettings(*group);
  return group;
}

std::shared_ptr<Communicator> Communicator::subgroup(const std::vector<int>& ranks) {
  checkRanks(ranks, size());
  // Compares the lists: with different lists, ranks would build groups that wait for each other
  // forever.
  CollectiveOptions options;
  options.name = "subgroup of ranks " + detail::base::commaSeparated(ranks);
  barrier(options);
  const auto at = std::find(ranks.begin(), ranks.end(), rank());
  return at == ranks.end() ? split(-1, 0) : split(0, static_cast<int>(at - ranks.begin()));
}

std::shared_ptr<Communicator> Communicator::duplicate() {
  return split(0, rank());
}

std::shared_ptr<NodeMemory> Communicator::allocateNodeMemory(std::size_t bytes, std::string* why) {
  std::string failure;
  std::shared_ptr<NodeMemory> memory = detail::ranks::PrivateNodeMemory::tryMake(bytes, failure);
  if (!memory && why != nullptr) {
    *why = "allocateNodeMemory: " + rankAndNode(rank(), nodeName()) + ": " + failure;
  }
  return memory;
}

void Communicator::setStallWarning(std::chrono::milliseconds after, StallListener listener) {
  stallWarningAfter_ = after;
  stallListener_ = std::move(listener);
}

void Communicator::warnOfStall(const std::string& warning) const {
  if (stallListener_) {
    stallListener_(warning);
  } else {
    logFromRank(*this, warning, std::cerr);
  }
}

void Communicator::shareSettings(Communicator& child) const {
  child.timeout_ = timeout_;
  child.stallWarningAfter_ = stallWarningAfter_;
  child.stallListener_ = stallListener_;
}

void Communicator::shareSettings(NodeMemory& memory) const {
  memory.stallWarningAfter_ = stallWarningAfter_;
  memory.stallListener_ = stallListener_;
  if (!stallListener_) {
    memory.stallListener_ = [prefix = rankPrefix(*this)](const std::string& warning) {
      std::cerr << prefix + warning + "\n" << std::flush;
    };
  }
}

}  // namespace steptape
