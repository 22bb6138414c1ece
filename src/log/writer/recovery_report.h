// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace steptape::detail::log {

/// What recoverRuns() has done.
struct RecoveryReport {
  /// One process that died.
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
  std::vector<Process> processes;
};

}  // namespace steptape::detail::log
