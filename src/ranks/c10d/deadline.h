// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <sstream>
#include <string>
#include <thread>

#include "base/running_time.h"

namespace steptape::c10d::detail {

/// Returns "2.5 s".
inline std::string secondsText(std::chrono::milliseconds duration) {
  std::ostringstream text;
  text << std::chrono::duration<double>(duration).count() << " s";
  return text.str();
}

/// The end of a wait that looks again and again.
class Deadline {
 public:
  /// @param longestPause Between two looks; the first ones are shorter.
  explicit Deadline(std::chrono::milliseconds timeout,
                    std::chrono::microseconds longestPause = std::chrono::milliseconds(20))
      : timeout_(timeout), longestPause_(longestPause) {
    time_.restart();
  }

  bool hasPassed() { return waited() >= timeout_; }
  /// Returns the time so far, without time in which this process was stopped.
  std::chrono::steady_clock::duration waited() { return time_.look(); }
  std::chrono::milliseconds timeout() const { return timeout_; }
  /// Pauses, longer each time.
  /// @return false after the end.
  bool pause() {
    if (hasPassed()) {
      return false;
    }
    std::this_thread::sleep_for(pause_);
    pause_ = std::min(2 * pause_, longestPause_);
    return true;
  }

 private:
  std::chrono::milliseconds timeout_;
  std::chrono::microseconds longestPause_;
  std::chrono::microseconds pause_{500};
  steptape::detail::base::RunningTime time_;
};

}  // namespace steptape::c10d::detail
