// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace steptape::tools {

/// The command by which the tool on one machine asks the tool on another one. It is for no other
/// use, so that --help and completion leave it out.
inline constexpr char kAnswerCommand[] = "answer-host";

/// Which processes of a machine are asked about, and what is to be done.
struct HostQuery {
  bool recovers = false;                 ///< Recovers their runs; else tells their states.
  bool discardsMissing = false;          ///< See RecoveryOptions::discardMissing.
  std::vector<std::string> directories;  ///< They log at or below one of these, absolute paths,
  std::vector<std::string> jobs;         ///< or belong to one of these jobs of the scheduler,
  std::set<std::uint64_t> launches;      ///< or to one of these; see RankState::launch.

  /// Returns the arguments of kAnswerCommand. They hold neither spaces nor what a shell replaces,
  /// since ssh passes them through one and srun does not.
  std::vector<std::string> encode() const;

  /// Reads what encode() returned.
  /// @throws Error(kInvalidArgument) for anything else.
  static HostQuery decode(const std::vector<std::string>& words);
};

}  // namespace steptape::tools
