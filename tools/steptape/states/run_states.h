// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "steptape/log/run_reader.h"

#include "tools/steptape/states/top_table.h"

namespace steptape::tools {

/// What the program of a run is doing.
enum class RunState : std::uint8_t {
  kUnknown,  ///< Another library wrote the run, and nothing tells whether it still does.
  kRunning,
  kHanging,  ///< It lives, but is stopped, or its steps do not come any more.
  kKilled,   ///< It ended without an end of its own.
  kFailed,   ///< It said so.
  kEnded,
};

/// Returns "running", "hanging", "killed", "failed", "ended"; "" for kUnknown.
const char* runStateName(RunState state);

/// What a run says about its end.
enum class RunEnd : std::uint8_t {
  kSucceeded,
  kFailed,
  kNotSaid,  ///< Steptape wrote it, whose dead processes leave something.
  kForeign,  ///< Another library wrote it.
};

/// What the processes of this machine are doing, and what dead ones have left.
class RunStates {
 public:
  /// Looks at the processes of this user.
  RunStates();

  /// Tells the state of a run: by the processes of this machine; by the file with which a process
  /// of any machine shows that it writes the directory; by the state that a dead process left
  /// there; by the end that the program has logged.
  ///
  RunState of(const RunReader& run, RunEnd end) const;

 private:
  /// A run that a process had open.
  struct Place {
    std::string directory;  // absolute
    double created;         // when the process began
    double seen;            // until when its state tells what happened
    Health health;
  };

  const Place* placeOf(const std::string& directory) const;

  std::vector<Place> places_;
};

}  // namespace steptape::tools
