// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "steptape/profile/trace_summary.h"
#include "steptape/trace/trace.h"

namespace steptape::detail {

/// Returns the part of a step to which a span and everything inside it belong; null if enclosing or
/// inner spans decide.
std::int64_t StepSummary::*ownPartOf(const TraceName& name);

}  // namespace steptape::detail
