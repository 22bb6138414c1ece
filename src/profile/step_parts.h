// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "steptape/profile/trace_summary.h"
#include "steptape/trace/trace.h"

namespace steptape::detail {

/// The part of a step that a span and all inside of it belong to; null if that is for others to
/// say.
std::int64_t StepSummary::*ownPartOf(const TraceName& name);

}  // namespace steptape::detail
