// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/events/event.h"
#include "steptape/events/plugin_content.h"
#include "steptape/values/value_options.h"

namespace steptape::detail::values {

/// Checks the arguments of addHparams().
///
/// @throws  Error(kInvalidArgument) for no hyperparameter at all; a name or tag that is empty or
///          repeated; in the experiment record a domain of mixed types, both kinds of domain at
///          once, or an interval whose ends are not numbers in ascending order; or a value outside
///          its domain in the record, because TensorBoard would silently omit the run.
/// @threads Thread-safe.
STEPTAPE_EXPORT void checkHparams(const Hparams& hparams, const HparamMetrics& metrics,
                                  const HparamsOptions& options);

// The three values for the hparams page. Each is metadata only and has an empty tensor, as in
// TensorBoard's own files; only a tag's first value in a file counts. Texts that are not UTF-8 are
// repaired as by replaceInvalidUtf8(), because one of them would make TensorBoard discard the
// record.

/// Names the columns of a study. Optional: without it, TensorBoard makes a column of every
/// hyperparameter and of every scalar of a run.
///
/// @pre     checkHparams() accepts `experiment`.
/// @threads Thread-safe.
/// @source  tensorboard/plugins/hparams/{api.proto,metadata.py,backend_context.py} at 2.21
STEPTAPE_EXPORT event::Value hparamsExperimentValue(const HparamsExperiment& experiment);

/// Starts a run's row in the table.
///
/// NaN and infinities are stored as the texts "NaN", "Infinity" and "-Infinity", because
/// TensorBoard omits such numbers.
///
/// @param groupName Runs with one name are repetitions of one trial, and TensorBoard averages their
///                  metrics; empty for a separate row.
/// @param startTime Seconds since 1970-01-01 UTC.
/// @threads Thread-safe.
/// @source  As hparamsExperimentValue().
STEPTAPE_EXPORT event::Value sessionStartValue(const Hparams& hparams, const std::string& groupName,
                                               double startTime);

/// Ends a run's row in the table.
///
/// @param endTime Seconds since 1970-01-01 UTC.
/// @threads Thread-safe.
/// @source  As hparamsExperimentValue().
STEPTAPE_EXPORT event::Value sessionEndValue(SessionStatus status, double endTime);

}  // namespace steptape::detail::values
