// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "steptape/comm/communicator.h"
#include "steptape/comm/node_memory.h"

#include "comm/group_map.h"

namespace steptape::detail {

/// POSIX shared memory that the ranks of a node, which are processes, have mapped.
///
/// Not MPI_Win_allocate_shared(): freeing its window is a collective, so that ranks that end in any
/// order could not, and where its file system is full, some MPIs die of SIGBUS at the
/// first touch. Here the pages are reserved before anybody touches them, and the name is gone as
/// soon as all have opened it, so that a killed job leaves no file.
///
/// Each rank reserves its part of the block, an equal one by local rank, so that the pages lie in
/// its NUMA domain. Each holds a lock on a byte of the file that the kernel releases when the
/// process ends, however it ends: by that the others see who is gone.
class STEPTAPE_EXPORT PosixNodeMemory final : public NodeMemory {
 public:
  /// As Communicator::allocateNodeMemory(); collective.
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
  PosixNodeMemory(std::byte* data, std::size_t bytes, int file, GroupMap group,
                  std::function<void(const std::string&)> onGivenUp);

  int file_;
  GroupMap group_;
  std::function<void(const std::string&)> onGivenUp_;
};

}  // namespace steptape::detail
