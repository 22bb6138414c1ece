// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace steptape::detail::process {

/// Counts the processes of a control group that the kernel has killed because memory ran out.
///
/// Slurm removes the groups of a step, with their counters, as soon as its processes have ended.
/// Therefore a process that is about to end looks itself.
class KernelKills {
 public:
  /// Of no group: the number is unknown.
  KernelKills() = default;
  /// @param directory       Of the group. Longer than a path may be: the number is unknown.
  /// @param withInnerGroups Adds those in it. In version 1, each group counts its own alone.
  KernelKills(std::string_view directory, bool isVersion2, bool withInnerGroups) noexcept;

  /// Returns the number; -1 if it is unknown. Safe in a signal handler, and keeps errno.
  ///
  /// @cost About 10 us for each group, of which it reads at most 1000.
  std::int64_t count() const noexcept;

 private:
  std::array<char, 4096> directory_{};  // a string, empty: of no group
  bool isVersion2_ = false;
  bool withInnerGroups_ = false;
};

}  // namespace steptape::detail::process
