// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "steptape/metrics/hang_watchdog.h"
#include "steptape/ranks/testing.h"

#include "process/blackbox/state_child.h"
#include "process/blackbox/state_page.h"

namespace steptape::test {

/// Trains in a child process, which may hang and die.
class HangWatchdogTest : public StateTest {
 protected:
  std::string run() const { return logs_.string() + "/run"; }
  std::string told() const { return logs_.string() + "/told.txt"; }

  /// Limits that a test can wait for.
  HangWatchdogOptions impatient() const {
    HangWatchdogOptions options;
    options.minimum = std::chrono::milliseconds(300);
    options.onHang = [path = told()](const std::string& report) {
      std::ofstream(path + ".part") << report;
      std::filesystem::rename(path + ".part", path);
    };
    return options;
  }

  /// Takes steps in a child, each of which calls `step`, and then does `last`.
  ///
  /// @return the wait status.
  int train(const HangWatchdogOptions& options,
            const std::function<void(SummaryWriter&, std::int64_t)>& step,
            const std::function<void(HangWatchdog&)>& last) {
    StateChild child([&](const StateChild::Ready&) {
      SummaryWriter writer(run());
      HangWatchdog watchdog(writer, options);
      for (std::int64_t i = 0; i < 8; ++i) {
        step(writer, i);
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
      }
      last(watchdog);
    });
    return child.end();
  }

  static void noteStep(SummaryWriter&, std::int64_t step) {
    detail::process::StatePage::current()->noteStep(step);
  }

  /// Hangs until the watchdog has told, but not for more than a bound.
  void hang() const {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(50);
    while (!std::filesystem::exists(told()) && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

  const testing::TempDir logs_;
};

}  // namespace steptape::test
