// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "steptape/base/array_view.h"
#include "steptape/trace/trace.h"

namespace steptape::detail {

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

/// "<host>_<pid>.<nanoseconds>"; if the job has several ranks, "<host>_rank00003_<pid>. ...".
std::string traceFileStem(const Trace& trace);

}  // namespace steptape::detail
