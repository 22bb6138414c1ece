// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/event/event.h"
#include "steptape/summary/tensor_view.h"
#include "steptape/summary/value_options.h"

namespace steptape {

/// Checks what can be known without the elements.
///
/// @throws Error(kInvalidArgument) naming both lengths if labels, predictions and weights are not
///         as many, or `options.numThresholds` if it is below 2 or fills a record of 2 GiB.
/// @threads Thread-safe.
/// @cost   Reads no element.
STEPTAPE_EXPORT void checkPrCurve(const TensorView& labels, const TensorView& predictions,
                                  const PrCurveOptions& options = {});

/// Counts a precision-recall curve: at threshold i / (numThresholds - 1) a prediction is positive
/// if it is not below.
///
/// Of a prediction p, floor(p · (numThresholds - 1)) is the last threshold that it reaches,
/// computed in binary64 for float64 and in binary32 for all other types: so a prediction that
/// equals a threshold but for its rounding is counted where TensorBoard and the peers count it.
/// Counts and sums of weights are kept in binary64. Precision and recall are 0 where they are not
/// defined.
///
/// @param labels      True where not 0; any element type.
/// @param predictions Probabilities that the label is true; any element type.
/// @param options     `numThresholds` and `weights` are used.
/// @shape   Any, paired in row-major order; also empty, which gives zeros; any strides.
/// @units   Predictions: 0..1.
/// @throws  Error(kInvalidArgument) as checkPrCurve(); or naming the first prediction that is not
///          in 0..1, weight that is negative or not finite, or label that is NaN, with its index in
///          row-major order.
/// @threads Thread-safe.
/// @cost    One pass, about 4 ns an element, without a copy of a tensor; 64 bytes a threshold.
/// @source  tensorboard/plugins/pr_curve/summary.py at 2.21
STEPTAPE_EXPORT PrCurveCounts computePrCurve(const TensorView& labels,
                                             const TensorView& predictions,
                                             const PrCurveOptions& options = {});

/// Checks a curve that the caller counted.
///
/// @throws Error(kInvalidArgument) naming the vector whose length is not that of truePositives, or
///         below 2, or the first element that is negative or not finite in binary32.
/// @threads Thread-safe.
STEPTAPE_EXPORT void checkPrCurve(const PrCurveCounts& counts);

/// Makes the value that TensorBoard's page of PR curves shows.
///
/// @param counts   REQUIRES: checkPrCurve() accepts it. Stored in binary32, as TensorBoard reads
///                 it: counts are exact up to 2^24.
/// @param metadata Display name and description; plugin, content and data class are set here.
/// @shape   The tensor is (6, thresholds), DT_FLOAT: the rows are the members of PrCurveCounts, in
///          their order.
/// @threads Thread-safe.
/// @source  tensorboard/plugins/pr_curve/metadata.py; docs/event_file_format.md.
STEPTAPE_EXPORT event::Value prCurveValue(std::string tag, const PrCurveCounts& counts,
                                          event::SummaryMetadata metadata = {});

}  // namespace steptape
