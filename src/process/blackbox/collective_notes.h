// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "steptape/base/dtype.h"
#include "steptape/base/export.h"

#include "process/blackbox/rank_state.h"
#include "process/blackbox/state_layout.h"

namespace steptape::detail::process {

/// The groups of ranks and their collectives in the state of this process.
///
/// @threads Thread-safe.
/// @cost    Stores into memory: no lock, allocation or system call.
class STEPTAPE_EXPORT CollectiveNotes {
 public:
  using Phase = RankState::CollectivePhase;
  static constexpr std::uint32_t kNoGroup = ~std::uint32_t{0};

  explicit CollectiveNotes(state_layout::State& state) noexcept : state_(state) {}

  /// @return whose number to pass to start(); kNoGroup if there is no room.
  std::uint32_t addGroup(std::uint64_t id, std::string_view name, int rank, int size) noexcept;
  void removeGroup(std::uint32_t group) noexcept;

  /// Notes that a collective begins.
  /// @param sequence Counts the collectives of the group, from 1.
  /// @param type     Null: none.
  /// @return its number, for the functions below.
  std::uint64_t start(std::uint32_t group, std::uint64_t sequence, std::string_view name,
                      std::int64_t bytes, const DType* type, Phase phase) noexcept;
  void setPhase(std::uint64_t number, Phase phase) noexcept;
  void end(std::uint32_t group, std::uint64_t number, bool hasSucceeded) noexcept;

 private:
  state_layout::State& state_;
};

}  // namespace steptape::detail::process
