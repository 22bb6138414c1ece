// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <sys/types.h>
#include <thread>
#include <utility>

#include "steptape/base/export.h"

namespace steptape::detail::base {

/// A thread that calls a function again and again, each time at the time that the call before asked
/// for, or when it is woken.
///
/// The thread and its object share the function: if a call hangs, for example in a driver, the
/// object need not wait for it forever. A child made by fork() does not have the thread: there,
/// nothing waits for it.
///
/// @threads wake() and waitUntilIdle() are thread-safe; the rest: one thread at a time.
class STEPTAPE_EXPORT LoopThread {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// What the body returns to be called again at once.
  static constexpr Time kAtOnce{};
  /// What the body returns to be called only when it is woken.
  static constexpr Time kWhenWoken = Time::max();

  /// The destructor waits as long as a call takes, and never detaches the thread.
  static constexpr std::chrono::milliseconds kUnlimited = std::chrono::milliseconds::max();

  struct Options {
    std::string name;  ///< At most 15 characters; as shown by `top -H`.
    int niceness = 0;  ///< If not 0, the thread's own: 19 is the lowest priority.
    std::chrono::milliseconds patience{5'000};  ///< Of the destructor; see end().
    /// Makes std::exit() wait until the thread is idle, before it destroys static objects that were
    /// made earlier than the first such thread.
    bool exitWaits = false;
  };

  /// Starts the thread, which calls `body` at once.
  ///
  /// @param body Returns when it wants to be called next. Must not throw. Must own what it uses,
  ///             unless the patience is kUnlimited.
  /// @throws std::system_error if there is no thread.
  LoopThread(const Options& options, std::function<Time()> body);
  LoopThread(const std::string& name, std::function<Time()> body)
      : LoopThread(Options{name}, std::move(body)) {}
  LoopThread(const LoopThread&) = delete;
  LoopThread& operator=(const LoopThread&) = delete;
  /// As end(), with the patience of the options.
  ~LoopThread();

  /// Makes the thread call the body now, or once more after a call in progress. REQUIRES: not in a
  /// forked child.
  void wake();

  /// Waits until a call has returned kWhenWoken and none has been asked for since. Returns at once
  /// on the thread itself, and in a forked child.
  void waitUntilIdle();

  /// Waits for a call in progress, at most for `patience`; no other follows. Does nothing in a
  /// forked child, which does not have the thread.
  /// @return whether the thread has ended.
  bool end(std::chrono::milliseconds patience);

  /// Whether this process is a forked child of the one that made the object.
  bool isOfParent() const;

 private:
  struct State;
  static void run(State& state);

  const std::shared_ptr<State> state_;
  const std::chrono::milliseconds patience_;
  const bool exitWaits_;
  const pid_t process_;
  std::thread thread_;
};

}  // namespace steptape::detail::base
