// SPDX-License-Identifier: Apache-2.0
// The collectives of Communicator that move bytes, and barrier().

#include <cstdint>
#include <utility>

#include "steptape/ranks/communicator.h"

#include "base/got_expected.h"
#include "ranks/communicator/checked_calls.h"

namespace steptape {

using detail::ranks::CollectiveKind;

void Communicator::checkRoot(const char* operation, int root) const {
  if (root < 0 || root >= size()) {
    detail::base::reject("root " + std::to_string(root), "0 to " + std::to_string(size() - 1),
                         operation);
  }
}

void Communicator::broadcast(void* data, std::size_t bytes, int root,
                             const CollectiveOptions& options) {
  checkRoot("broadcast", root);
  run(detail::ranks::broadcastCall(data, bytes, root, options));
}

CollectiveHandle Communicator::broadcastAsync(void* data, std::size_t bytes, int root,
                                              const CollectiveOptions& options) {
  checkRoot("broadcast", root);
  return post(detail::ranks::broadcastCall(data, bytes, root, options));
}

std::string Communicator::broadcastObject(std::string_view bytes, int root,
                                          const CollectiveOptions& options) {
  checkRoot("broadcastObject", root);
  std::uint64_t size = bytes.size();
  run(detail::ranks::broadcastCall(&size, sizeof size, root, options));
  std::string object = rank() == root ? std::string(bytes) : std::string(size, '\0');
  // All ranks now have the root's size, and have just been compared in the same operation.
  CollectiveOptions compared = options;
  compared.compareRanks = false;
  run(detail::ranks::broadcastCall(object.data(), object.size(), root, compared));
  return object;
}

std::vector<std::string> Communicator::allgather(std::string_view bytes,
                                                 const CollectiveOptions& options) {
  std::vector<std::string> gathered;
  run(detail::ranks::allgatherCall(bytes, gathered, options));
  return gathered;
}

CollectiveHandle Communicator::allgatherAsync(std::string_view bytes,
                                              std::vector<std::string>& gathered,
                                              const CollectiveOptions& options) {
  return post(detail::ranks::allgatherCall(bytes, gathered, options));
}

std::vector<std::string> Communicator::gatherObject(std::string_view bytes, int root,
                                                    const CollectiveOptions& options) {
  std::vector<std::string> gathered;
  checkRoot("gatherObject", root);
  run(detail::ranks::gatherCall(bytes, gathered, root, options));
  return gathered;
}

CollectiveHandle Communicator::gatherObjectAsync(std::string_view bytes,
                                                 std::vector<std::string>& gathered, int root,
                                                 const CollectiveOptions& options) {
  checkRoot("gatherObject", root);
  return post(detail::ranks::gatherCall(bytes, gathered, root, options));
}

std::vector<std::string> Communicator::alltoall(const std::vector<std::string>& toRank,
                                                const CollectiveOptions& options) {
  std::vector<std::string> fromRank;
  run(detail::ranks::alltoallCall(toRank, fromRank, size(), options));
  return fromRank;
}

CollectiveHandle Communicator::alltoallAsync(const std::vector<std::string>& toRank,
                                             std::vector<std::string>& fromRank,
                                             const CollectiveOptions& options) {
  return post(detail::ranks::alltoallCall(toRank, fromRank, size(), options));
}

void Communicator::barrier(const CollectiveOptions& options) {
  run(detail::ranks::callFor(CollectiveKind::kBarrier, options));
}

}  // namespace steptape
