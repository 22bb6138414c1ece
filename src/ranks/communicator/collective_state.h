// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/ranks/collective.h"

#include "process/blackbox/state_page.h"
#include "ranks/communicator/collective_call.h"

namespace steptape::detail::ranks {

/// The part of the process's state that belongs to one communicator.
///
/// @threads Not thread-safe: one thread at a time, the communicator's.
class GroupState {
 public:
  /// Call it for the first collective of a communicator, also while no state is kept, so that
  /// GroupStates with the same ranks are made in the same order on all of them.
  ///
  /// @param jobRanks The group's ranks, as numbered in the job; empty if unknown.
  GroupState(int rank, int size, const std::vector<int>& jobRanks);
  GroupState(const GroupState&) = delete;
  GroupState& operator=(const GroupState&) = delete;
  ~GroupState();

  /// Counts a collective, and notes that it begins.
  ///
  /// @param phase In which phase it begins.
  /// @return an empty token while no state is kept.
  /// @cost   No lock, allocation or system call.
  CollectiveToken start(const CollectiveCall& call,
                        process::RankState::CollectivePhase phase) noexcept;

 private:
  const int rank_;
  const int size_;
  const std::uint64_t id_;
  const std::string name_;
  process::StatePage* page_ = nullptr;  // not that of the process before fork()
  std::uint32_t number_ = process::CollectiveNotes::kNoGroup;
  std::uint64_t started_ = 0;
};

/// Notes the phase of a collective. Does nothing for an empty token.
void notePhase(const CollectiveToken& token, process::RankState::CollectivePhase phase) noexcept;
/// Notes that it has ended, and empties the token.
void noteEnd(CollectiveToken* token, bool hasSucceeded) noexcept;

/// Notes the end of a blocking collective when the scope ends.
class CollectiveState {
 public:
  explicit CollectiveState(const CollectiveToken& token) noexcept : token_(token) {}
  CollectiveState(const CollectiveState&) = delete;
  CollectiveState& operator=(const CollectiveState&) = delete;
  ~CollectiveState() { noteEnd(&token_, hasSucceeded_); }

  const CollectiveToken& token() const { return token_; }
  void succeed() { hasSucceeded_ = true; }
  /// Leaves noting the end to another object.
  CollectiveToken release() { return std::exchange(token_, {}); }

 private:
  CollectiveToken token_;
  bool hasSucceeded_ = false;
};

}  // namespace steptape::detail::ranks
