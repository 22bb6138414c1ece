// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <sys/types.h>
#include <thread>

#include "steptape/base/export.h"

namespace steptape::detail::base {

/// A thread that calls a function again and again, each time at the time that the call before asked
/// for.
///
/// The thread and its object share the function: if a call hangs, for example in a driver, the
/// object does not wait for it forever.
///
/// @threads Not thread-safe: one thread at a time.
class STEPTAPE_EXPORT LoopThread {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Starts the thread, which calls `body` at once.
  ///
  /// @param name At most 15 characters; as shown by `top -H`.
  /// @param body Returns when it wants to be called next. Must not throw. Must own what it uses.
  /// @throws std::system_error if there is no thread.
  LoopThread(const std::string& name, std::function<Time()> body);
  LoopThread(const LoopThread&) = delete;
  LoopThread& operator=(const LoopThread&) = delete;
  /// As end(), with a patience of 5 s.
  ~LoopThread();

  /// Waits for a call in progress, at most for `patience`; no other follows. Does nothing in a
  /// forked child, which does not have the thread.
  /// @return whether the thread has ended.
  bool end(std::chrono::milliseconds patience);

  /// Whether this process is a forked child of the one that made the object.
  bool isOfParent() const;

 private:
  struct State;
  static void run(State& state);

  std::shared_ptr<State> state_;
  pid_t process_;
  std::thread thread_;
};

}  // namespace steptape::detail::base
