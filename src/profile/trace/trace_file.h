// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "steptape/base/array_view.h"
#include "steptape/base/export.h"
#include "steptape/profile/trace.h"

namespace steptape::detail::profile {

// What files of all viewers that show time in one way have in common.

/// Times in a file are relative to the last multiple of this since 1970: three months, so that all
/// ranks of a job have the same base, and few enough for a double to hold nanoseconds.
/// @source Kineto
inline constexpr std::int64_t kFileBasePeriodNanos = 7'889'238'000'000'000;

/// The base of the file of these processes, in Unix time. REQUIRES: at least one.
std::int64_t fileBaseNanos(ArrayView<const Trace> processes);

/// Returns `wanted`, or the first number above it that is not in `taken`, and adds it there.
std::int64_t takeProcessId(std::int64_t wanted, std::set<std::int64_t>* taken);

/// The process id of each process in its file: of a single one its own, of several the rank or, if
/// two have the same rank, a number that is free.
std::vector<std::int64_t> fileProcessIds(ArrayView<const Trace> processes,
                                         std::set<std::int64_t>* taken);

/// Returns whether a trace says which rank of a job it is of; otherwise its rank is 0 of 1.
inline bool hasRank(const Trace& trace) {
  return trace.worldSize > 1 || trace.rank != 0;
}

/// The name of each process in its file, by which a viewer's user tells them apart: "rank 3", with
/// the process id if ranks repeat, or only that if no process has a rank; and the processes' own
/// names if these differ. A single process has its own name. REQUIRES: at least one.
STEPTAPE_EXPORT std::vector<std::string> fileProcessNames(ArrayView<const Trace> processes);

/// Describes a process below its name: "rank 3 of 8 on node7", or "CPU" for one without a job.
std::string processLabel(const Trace& trace);

/// "<host>_<pid>.<nanoseconds>"; if the job has several ranks, "<host>_rank00003_<pid>. ...".
std::string traceFileStem(const Trace& trace);

}  // namespace steptape::detail::profile
