// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/event/event.h"
#include "steptape/event/hparams_content.h"
#include "steptape/summary/value_options.h"

namespace steptape {

/// Checks what addHparams() was given, without making anything of it.
///
/// @throws  Error(kInvalidArgument) naming what is wrong: no hyperparameter at all; a name or tag
///          that is empty or there twice; in the experiment record a domain of mixed types, both
///          kinds of domain at once, or an interval whose ends are not numbers in ascending order;
///          or a value outside the domain that the record gives it, since TensorBoard would leave
///          out the run without a word.
/// @threads Thread-safe.
STEPTAPE_EXPORT void checkHparams(const Hparams& hparams, const HparamMetrics& metrics,
                                  const HparamsOptions& options);

// The three values that make the hparams page. Each is metadata only: its tensor holds nothing, as
// TensorBoard itself writes it, and only a tag's first value in a file counts. Texts that are not
// UTF-8 are repaired as replaceInvalidUtf8() does; one of them would cost TensorBoard the record.

/// Names the columns of a study. Not needed: without it TensorBoard makes a column of every
/// hyperparameter and of every scalar that a run has.
///
/// @pre     checkHparams() accepts `experiment`.
/// @threads Thread-safe.
/// @source  tensorboard/plugins/hparams/{api.proto,metadata.py,backend_context.py} at 2.21
STEPTAPE_EXPORT event::Value hparamsExperimentValue(const HparamsExperiment& experiment);

/// Begins a run's row in the table.
///
/// NaN and infinities are stored as the texts "NaN", "Infinity" and "-Infinity", because
/// TensorBoard leaves out such numbers.
///
/// @param groupName Runs of one name are repetitions of one trial, and TensorBoard averages their
///                  metrics; empty for a row of its own.
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

}  // namespace steptape
