// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "steptape/ranks/collective.h"
#include "steptape/ranks/communicator.h"

#include "ranks/communicator/group_map.h"
#include "ranks/communicator/presence_lock.h"

namespace steptape::detail::ranks {

/// POSIX shared memory that all ranks of a node have mapped. Each rank is a process.
///
/// MPI_Win_allocate_shared() is not suitable: freeing its window is a collective, so ranks could
/// not end in any order, and some MPIs die of SIGBUS at the first access if the file system is
/// full. Here, the pages are reserved before they are accessed. The name is removed as soon as all
/// ranks have opened the object, so a killed job leaves no file.
///
/// Each rank reserves an equal part of the block, by local rank, so that the pages are in its NUMA
/// domain. A PresenceLock tells the other ranks which rank has ended.
class STEPTAPE_EXPORT PosixNodeMemory final : public NodeMemory {
 public:
  /// Implements Communicator::allocateNodeMemory(); collective.
  ///
  /// @param onGivenUp Called by reportGivenUp().
  static std::shared_ptr<NodeMemory> tryMake(Communicator& communicator, const GroupMap& group,
                                             std::size_t bytes, std::string* why,
                                             std::function<void(const std::string&)> onGivenUp);
  ~PosixNodeMemory() override;

  void checkPeers() const override;
  void reportGivenUp(const std::string& why) override { onGivenUp_(why); }
  std::string nameOfLocalRank(int localRank) const override {
    return group_.nameOfLocal(localRank);
  }

 private:
  PosixNodeMemory(std::byte* data, std::size_t bytes, std::unique_ptr<PresenceLock> presence,
                  GroupMap group, std::function<void(const std::string&)> onGivenUp);

  std::unique_ptr<PresenceLock> presence_;
  GroupMap group_;
  std::function<void(const std::string&)> onGivenUp_;
};

}  // namespace steptape::detail::ranks
