// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <sys/mman.h>
#include <system_error>

#include "steptape/ranks/collective.h"

#include "ranks/communicator/private_node_memory.h"

namespace steptape {

NodeMemory::~NodeMemory() = default;

void NodeMemory::checkPeers() const {}

void NodeMemory::reportGivenUp(const std::string& /*why*/) {}

std::string NodeMemory::nameOfLocalRank(int localRank) const {
  return "local rank " + std::to_string(localRank);
}

namespace detail::ranks {
namespace {

// mmap() rejects a length of 0. A block of 0 bytes still needs a unique address.
std::size_t mappedBytes(std::size_t bytes) {
  return std::max<std::size_t>(bytes, 1);
}

}  // namespace

std::shared_ptr<PrivateNodeMemory> PrivateNodeMemory::tryMake(std::size_t bytes, std::string& why) {
  void* const data =
      mmap(nullptr, mappedBytes(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) {
    why = "cannot allocate " + std::to_string(bytes) +
          " bytes: " + std::generic_category().message(errno);
    return nullptr;
  }
  return std::shared_ptr<PrivateNodeMemory>(
      new PrivateNodeMemory(static_cast<std::byte*>(data), bytes));
}

PrivateNodeMemory::~PrivateNodeMemory() {
  munmap(data(), mappedBytes(size()));
}

}  // namespace detail::ranks
}  // namespace steptape
