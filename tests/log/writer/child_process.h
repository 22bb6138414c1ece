// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "support/own_black_boxes.h"

#include <gtest/gtest.h>

namespace steptape {

/// Runs `body` in a child process and returns its wait status; kills it after a bound.
template <typename Body>
int runInChild(const Body& body) {
  const test::OwnBlackBoxes boxes;
  const pid_t child = fork();
  if (child == 0) {
    body();
    std::exit(0);
  }
  constexpr auto kBound = std::chrono::seconds(30);
  const auto deadline = std::chrono::steady_clock::now() + kBound;
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > deadline) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      ADD_FAILURE() << "the child did not end within its bound";
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return status;
}

}  // namespace steptape
