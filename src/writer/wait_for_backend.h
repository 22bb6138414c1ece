// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

#include "writer/backend.h"

namespace steptape {

/// Waits until the backend's work has made `ready()` true, waking it, for at most `timeout`.
///
/// @return What ready() said last.
template <typename Ready>
bool waitForBackend(const Ready& ready, std::chrono::milliseconds timeout) {
  constexpr auto kLongestSleep = std::chrono::microseconds(1000);
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  auto pause = std::chrono::microseconds(50);
  while (!ready()) {
    if (std::chrono::steady_clock::now() >= deadline) {
      return ready();
    }
    Backend::instance().wake();
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, kLongestSleep);
  }
  return true;
}

}  // namespace steptape
