// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "process/blackbox/rank_state.h"
#include "tools/steptape/states/rank_view.h"

namespace steptape::tools {

/// Why a process has died, as far as its state tells.
struct Cause {
  enum class Kind : std::uint8_t {
    kException,      ///< std::terminate() with an exception that nothing caught.
    kFault,          ///< A signal that the process caused itself, or abort().
    kSentSignal,     ///< Such a signal, sent by a process.
    kEndedItself,    ///< Steptape ended it, and the job, after an error.
    kLeftEarly,      ///< exit() while the job ran.
    kTerminated,     ///< SIGTERM came shortly before its end.
    kOutOfMemory,    ///< No trace, but the kernel has killed for lack of memory.
    kMemoryAtLimit,  ///< No trace, but its memory was at the limit.
    kNoTrace,        ///< SIGKILL, or an exit without a normal end.
  };
  Kind kind = Kind::kNoTrace;
  std::string text;    ///< "was killed by SIGSEGV: it used an address that is not mapped (0x10)".
  std::string advice;  ///< What to do next; may be empty.
};

struct DeadRank {
  const RankView* rank;
  double time;  ///< Of the signal, else the last sign of life, by the clock of the first host.
  Cause cause;
};

/// The memory of a machine on which the tool runs, as evidence: how many processes of its cgroup
/// the kernel has killed; -1: unknown.
struct Surroundings {
  std::int64_t oomKills = -1;
  std::int64_t cgroupLimit = -1;
  std::string host;
};
Surroundings surroundingsHere();

/// Returns whether the process has died; a copy tells so only by a signal.
bool isDead(const RankView& rank);

/// Returns the ranks of `job` that have died, in its order, and why. They point into the job.
/// @param machines At most one for each host.
std::vector<DeadRank> deadRanksOf(const Job& job, const std::vector<Surroundings>& machines);

/// Returns who sent a signal: "process 4711 of user 1000" or "the kernel".
std::string senderOf(const steptape::detail::process::RankState::Death& death);

}  // namespace steptape::tools
