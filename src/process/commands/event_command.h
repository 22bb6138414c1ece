// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <sys/types.h>

#include "steptape/base/export.h"

namespace steptape::detail::process {

/// Calls a program of the user when something happens. It gets one JSON document on its standard
/// input:
///
///     {"event": "finding", "message": "…", "run": "runs/demo", "host": "node7", "process": 4711,
///      "time": 1795289521.5, …}
///
/// A shell starts the program in a process group of its own, one at a time, in order. Its standard
/// output is discarded. One that does not end in time is killed, with its group.
///
/// @threads Thread-safe. post() never waits.
class STEPTAPE_EXPORT EventCommand {
 public:
  struct Options {
    std::string command;
    /// How long a program may take.
    std::chrono::milliseconds timeout{30'000};
    /// The most documents a minute; more are left out, and counted in the next one as "omitted".
    std::size_t mostPerMinute = 10;
    /// Gets a line for a program that fails, each once; called on a thread of this object or by
    /// drain(). May be empty.
    std::function<void(const std::string& problem)> onProblem = {};
  };

  explicit EventCommand(Options options);
  EventCommand(const EventCommand&) = delete;
  EventCommand& operator=(const EventCommand&) = delete;
  /// As drain(), for a few seconds.
  ~EventCommand();

  /// Passes on what has happened. Does nothing in a forked child.
  ///
  /// @param event   A name such as "finding".
  /// @param message For people; cut off if it is very long.
  /// @param run     A directory; may be empty.
  /// @param members Further members of the document: `, "tag": "loss"`, or nothing.
  /// @param isRare  Whether it is never left out.
  void post(std::string_view event, std::string_view message, std::string_view run,
            std::string_view members = {}, bool isRare = false);

  /// Tells how many events were left out, in a document of its own. Waits until all programs have
  /// ended, and kills the one that runs if that takes too long; the others are then not called,
  /// which is a problem to report.
  ///
  /// @param mayWait Called a few times a second; ends the wait when it returns false. Empty:
  ///                always.
  /// @return whether all have ended by themselves.
  bool drain(std::chrono::milliseconds patience, const std::function<bool()>& mayWait = {});

  /// Returns the process group of the program that runs; 0 if none does.
  pid_t group() const;
  /// For a process that waits for all of its children: takes the status of one, which may have been
  /// a program of this object.
  void noteEnd(pid_t process, int status);

 private:
  void tellOmitted();

  struct State;
  const std::shared_ptr<State> state_;
};

}  // namespace steptape::detail::process
