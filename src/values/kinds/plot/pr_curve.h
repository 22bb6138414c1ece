// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/events/event.h"
#include "steptape/values/tensor_view.h"
#include "steptape/values/value_options.h"

namespace steptape::detail::values {

/// Checks everything that does not depend on the elements' values.
///
/// @throws  Error(kInvalidArgument) with both lengths if labels, predictions and weights differ in
///          number, or `options.numThresholds` if it is below 2 or would fill a record of 2 GiB.
/// @threads Thread-safe.
/// @cost    Reads no element.
STEPTAPE_EXPORT void checkPrCurve(const TensorView& labels, const TensorView& predictions,
                                  const PrCurveOptions& options = {});

/// Counts a precision-recall curve: at threshold i / (numThresholds - 1), a prediction is positive
/// if it is not below the threshold.
///
/// The last threshold that a prediction p reaches is floor(p · (numThresholds - 1)), computed in
/// binary64 for float64 and in binary32 for all other types. A prediction that equals a threshold
/// except for rounding is therefore counted as TensorBoard and the Python writers count it. Counts
/// and sums of weights are kept in binary64. Precision and recall are 0 where they are undefined.
///
/// @param labels      True if not 0; any element type.
/// @param predictions Probabilities that the label is true; any element type.
/// @param options     Uses `numThresholds` and `weights`.
/// @shape   Any, paired in row-major order; also empty, which gives zeros; any strides.
/// @units   Predictions: 0..1.
/// @throws  Error(kInvalidArgument) as checkPrCurve(); or with the first prediction that is not in
///          0..1, weight that is negative or not finite, or label that is NaN, and its index in
///          row-major order.
/// @threads Thread-safe.
/// @cost    One pass, about 4 ns per element, without a copy of a tensor; 64 bytes per threshold.
/// @source  tensorboard/plugins/pr_curve/summary.py at 2.21
STEPTAPE_EXPORT PrCurveCounts computePrCurve(const TensorView& labels,
                                             const TensorView& predictions,
                                             const PrCurveOptions& options = {});

/// Checks a curve that the caller counted.
///
/// @throws  Error(kInvalidArgument) with the vector whose length is below 2 or differs from
///          truePositives, or the first element that is negative or not finite in binary32.
/// @threads Thread-safe.
STEPTAPE_EXPORT void checkPrCurve(const PrCurveCounts& counts);

/// Makes the value that TensorBoard's PR-curve page shows.
///
/// @param counts   REQUIRES: checkPrCurve() accepts it. Stored in binary32, as TensorBoard reads
///                 it: counts are exact up to 2^24.
/// @param metadata Display name and description; this function sets plugin, content and data class.
/// @shape   A (6, thresholds) DT_FLOAT tensor; its rows are the members of PrCurveCounts in order.
/// @threads Thread-safe.
/// @source  tensorboard/plugins/pr_curve/metadata.py; docs/event_file_format.md.
STEPTAPE_EXPORT event::Value prCurveValue(std::string tag, const PrCurveCounts& counts,
                                          event::SummaryMetadata metadata = {});

}  // namespace steptape::detail::values
