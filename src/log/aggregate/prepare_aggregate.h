// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "steptape/base/export.h"
#include "steptape/log/aggregate.h"
#include "steptape/log/run_reader.h"

#include "log/writer/whole_run.h"

namespace steptape::detail::log {

/// Does what aggregateRuns() does, except that the new run has still to appear: of several groups,
/// all do, or none.
///
/// @throws as aggregateRuns().
STEPTAPE_EXPORT AggregateResult prepareAggregate(const std::vector<RunReader>& runs,
                                                 const AggregateOptions& options, WholeRun* output);

}  // namespace steptape::detail::log
