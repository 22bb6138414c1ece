// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <sys/wait.h>

#include "support/own_black_boxes.h"

namespace steptape::test {

/// The exit status of a job, and the output of all its ranks.
struct JobEnd {
  int exitCode;
  std::string output;
};

/// Runs a shell command. coreutils' timeout limits it; its exit code is then 124.
inline JobEnd runJob(const std::string& command) {
  const OwnBlackBoxes boxes;
  std::FILE* pipe = popen(("timeout 60 " + command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) {
    return {-1, "popen failed"};
  }
  std::string output;
  std::array<char, 4096> buffer;
  while (const std::size_t bytes = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    output.append(buffer.data(), bytes);
  }
  // Open MPI 5 ends some of its messages with a NUL, at which a regular expression would end.
  output.erase(std::remove(output.begin(), output.end(), '\0'), output.end());
  const int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, output};
}

}  // namespace steptape::test
