// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace steptape::detail::log {

/// What recoverRuns() has done.
struct RecoveryReport {
  /// One process that died, or lives.
  struct Process {
    std::uint64_t pid = 0;
    std::string program;
    std::string host;
    std::vector<std::string> directories;  ///< Of its runs.
    std::uint64_t values = 0;              ///< Brought into event files.
    std::vector<std::string> files;        ///< That got them.
    std::uint64_t unreadableValues = 0;    ///< That were not encoded yet, such as images.
    std::vector<std::string> problems;     ///< What is damaged or could not be written.
    bool isKept = false;                   ///< The box is still there, for another try.

    /// Notes what could not be done now: the box stays, for another try.
    void keep(std::string problem) {
      isKept = true;
      problems.push_back(std::move(problem));
    }
  };
  std::vector<Process> processes;  ///< That died.
  /// That were left alone because they live: only what tells which they are.
  std::vector<Process> living;

  /// Appends what another recovery has done. A living process may have runs in both places: it
  /// comes once.
  void add(RecoveryReport other) {
    std::move(other.processes.begin(), other.processes.end(), std::back_inserter(processes));
    for (Process& process : other.living) {
      const auto isSame = [&](const Process& known) {
        return known.pid == process.pid && known.host == process.host;
      };
      if (std::none_of(living.begin(), living.end(), isSame)) {
        living.push_back(std::move(process));
      }
    }
  }
};

}  // namespace steptape::detail::log
