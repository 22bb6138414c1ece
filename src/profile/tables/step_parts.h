// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "steptape/profile/trace.h"
#include "steptape/profile/trace_summary.h"

namespace steptape::detail::profile {

using StepPart = std::int64_t StepSummary::*;

/// Returns the part of a step to which a span and everything inside it belong; null if enclosing or
/// inner spans decide.
StepPart ownPartOf(const TraceName& name);

/// Returns the part of each name. Cheaper than to ask for each span.
std::vector<StepPart> ownPartsOf(const std::vector<TraceName>& names);

/// Returns whether a kernel is a collective, by its name: those of NCCL and RCCL begin with "nccl".
bool isCollectiveOfDevice(const TraceName& name);

}  // namespace steptape::detail::profile
