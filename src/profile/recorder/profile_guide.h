// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steptape/profile/profiler.h"
#include "steptape/profile/trace.h"

namespace steptape::detail::profile {

/// Returns an introduction to a profile for TensorBoard's text page: where the time of a step went,
/// which other files were written, and how to view them.
///
/// @param options Options with which the trace is written.
std::string profileGuide(const Trace& trace, const ProfilerOptions& options);

}  // namespace steptape::detail::profile
