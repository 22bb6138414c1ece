// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "steptape/base/export.h"

#include "process/blackbox/state_layout.h"

namespace steptape::detail::process {

/// The last values of one scalar tag.
struct TagValues {
  std::int64_t step = 0;
  float value = 0;
  double wall = 0;
  bool hasFinite = false;
  std::int64_t finiteStep = 0;
  float finiteValue = 0;
  bool hasNonFinite = false;
  std::int64_t firstNonFiniteStep = 0;
};

/// The last values of scalar tags in the state of this process.
///
/// @threads Not thread-safe: only for the writers' background thread.
/// @cost    Stores into memory: no lock, allocation or system call.
class STEPTAPE_EXPORT ValueNotes {
 public:
  static constexpr std::uint32_t kNoPlace = ~std::uint32_t{0};

  explicit ValueNotes(state_layout::State& state) noexcept : state_(state) {}

  /// @return whose number to pass to note(); kNoPlace if there is no room.
  std::uint32_t add(std::string_view tag, std::string_view directory) noexcept;
  /// Gives the place of a tag that no longer gets values to another one.
  void replace(std::uint32_t number, std::string_view tag, std::string_view directory) noexcept;
  void note(std::uint32_t number, const TagValues& values) noexcept;

 private:
  state_layout::State& state_;
};

}  // namespace steptape::detail::process
