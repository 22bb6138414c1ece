// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steptape/profile/profiler.h"
#include "steptape/trace/trace.h"

namespace steptape::detail {

/// What to know first about a profile, for TensorBoard's text page: where the time of a step went,
/// and what else was written, with how to look at it.
///
/// @param options Those by which the trace is written.
std::string profileGuide(const Trace& trace, const ProfilerOptions& options);

}  // namespace steptape::detail
