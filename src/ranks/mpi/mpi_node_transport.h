// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "ranks/engine/node_transport.h"
#include "ranks/engine/stuck.h"
#include "ranks/mpi/job_state.h"

#include <mpi.h>

namespace steptape::mpi::detail {

/// Moves the data of MPI's ranks through the memory of their node, while MPI may be used.
class MpiNodeTransport final : public steptape::detail::ranks::NodeTransport {
 public:
  /// @param communicator MPI's, of the same ranks.
  MpiNodeTransport(std::shared_ptr<NodeMemory> memory, steptape::detail::ranks::GroupMap map,
                   MPI_Comm communicator)
      : NodeTransport(std::move(memory), std::move(map)), communicator_(communicator) {}

  bool enter() override {
    const bool isAllowed = beginMpiUse();
    // Other operations of the program progress only in calls of MPI, and a rank for which this one
    // waits may need one of them first.
    constexpr std::uint32_t kBetweenCalls = 256;
    if (isAllowed && ++uses_ % kBetweenCalls == 0) {
      int isThere = 0;
      MPI_Iprobe(MPI_ANY_SOURCE, kUnusedTag, communicator_, &isThere, MPI_STATUS_IGNORE);
    }
    return isAllowed;
  }
  void leave() override { endMpiUse(); }
  std::string endedBecause() const override { return "MPI was finalized"; }
  std::string unusableBecause() const override { return noMpiBecause(); }
  void noteBroken(const std::string& why) override { steptape::detail::ranks::markStuck(why); }
  std::string lostBecause() override {
    std::string stuck = steptape::detail::ranks::stuckBecause();
    if (!stuck.empty()) {
      return stuck;
    }
    std::string lost = NodeTransport::lostBecause();
    if (lost.empty()) {
      return lost;
    }
    const auto now = std::chrono::steady_clock::now();
    if (firstNoticed_ == std::chrono::steady_clock::time_point()) {
      firstNoticed_ = now;
    }
    // A launcher that ends the job when a rank ends does so at once, and is not to be forestalled:
    // it tells how that rank ended.
    constexpr std::chrono::seconds kTimeOfLauncher{5};
    return now - firstNoticed_ < kTimeOfLauncher ? "" : lost;
  }

 private:
  static constexpr int kUnusedTag = 2;

  MPI_Comm communicator_;
  std::uint32_t uses_ = 0;
  std::chrono::steady_clock::time_point firstNoticed_;  // that a rank has ended; epoch: not yet
};

}  // namespace steptape::mpi::detail
