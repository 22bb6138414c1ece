// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/events/event.h"
#include "steptape/values/tensor_view.h"
#include "steptape/values/value_options.h"

#include "values/kinds/histogram/histogram_bins.h"

namespace steptape::detail::values {

/// The histogram of a tensor, and counts of its values that are not finite.
struct HistogramData {
  HistogramRaw raw;               ///< Of finite values only.
  std::uint64_t nanCount = 0;     ///< NaNs of either sign.
  std::uint64_t posInfCount = 0;  ///< +infinities.
  std::uint64_t negInfCount = 0;  ///< -infinities.
};

/// Counts the elements of `values` in TensorBoard's default buckets.
///
/// The limits are 0 and ±1e-12 · 1.1^k up to 1e20: 1549 limits, the same doubles as in TensorFlow,
/// torch.utils.tensorboard and tensorboardX. A value equal to a limit counts in the bucket to the
/// right of it, except for the largest limit, which belongs to the bucket on its left, as in
/// numpy.histogram. Finite values beyond the outermost limits count in one additional bucket on
/// either side. The result holds the buckets from the first to the last nonempty one; none if there
/// is no finite value.
///
/// Counts are exact for every type; integers of 64 bits are compared as doubles. Sums are
/// accumulated in double.
///
/// @shape   Any, also empty; any strides.
/// @threads Thread-safe.
/// @cost    One pass over the elements without a copy of the tensor: about 1.5 ns per float32
///          element (a binary search takes 37 ns on the same machine), and 7 us for the result. The
///          first call of the process fills a table of 256 KiB, or 512 KiB for double, in 0.3 ms.
/// @source  tensorflow/core/lib/histogram/histogram.cc (limits); numpy.histogram (last limit).
STEPTAPE_EXPORT HistogramData computeHistogram(const TensorView& values);

/// Counts the elements of `values` in buckets that the caller chooses.
///
/// Counts every finite value, so that `num` is the sum of the counts: values outside of given edges
/// count in one additional bucket on either side. The result holds the buckets from the first to
/// the last nonempty one. Edges that are equal as doubles become one.
///
/// @param bins    See HistogramBins; the default is computeHistogram(values).
/// @param maxBins Maximum number of buckets; 0: as many as `bins` gives. If there are more, each
///                bucket of the result joins ceil(buckets / maxBins) neighbors, the last one the
///                remainder. Counts are added, and the edges are a subset of the original ones.
/// @throws  Error(kInvalidArgument) as checkHistogramBins().
/// @threads Thread-safe.
/// @cost    For a count, "sturges", "rice" and "sqrt": two passes without a copy, about 8 ns per
///          element. For edges: one pass with a binary search. Other rules first copy the elements
///          as doubles; "fd" and "auto" then take quartiles from the copy in linear time.
STEPTAPE_EXPORT HistogramData computeHistogram(const TensorView& values, const HistogramBins& bins,
                                               std::int64_t maxBins = 0);

/// Checks the caller's choice of buckets; reads no tensor.
///
/// @param maxBins HistogramOptions::maxBins.
/// @throws Error(kInvalidArgument) for an unknown rule, with the known rules; a count outside of
///         1..kMaxCount; fewer than two edges; the first edge that is not finite or not above the
///         previous one; or a negative `maxBins`.
/// @threads Thread-safe.
STEPTAPE_EXPORT void checkHistogramBins(const HistogramBins& bins, std::int64_t maxBins = 0);

/// Checks a histogram that the caller counted.
///
/// @throws Error(kInvalidArgument) with both lengths if there is not one count per limit; the first
///         limit that is NaN or not above the previous one; the first count that is negative or not
///         finite; or `min` and `max` if they are not finite or `min` is larger.
/// @threads Thread-safe.
STEPTAPE_EXPORT void checkHistogram(const HistogramRaw& histogram);

/// Makes the value that TensorBoard's histogram, distribution and time-series pages show.
///
/// Omits empty buckets at both ends. The first bucket starts at `min` and the last one ends at
/// `max`, which are the edges that TensorBoard itself uses for histograms of the compatible form.
/// Every bucket starts where the previous one ends, and none has a negative width.
///
/// @param histogram REQUIRES: checkHistogram() accepts it.
/// @param metadata  Display name and description; this function sets plugin and data class.
/// @shape   kCompatible: a SummaryHistogram, with metadata only for a display name or description.
///          TensorBoard's Python loader reads that form as binary32. If binary32 cannot hold or
///          distinguish the edges, and always with kTensor: a tensor of (buckets, 3), DT_DOUBLE,
///          rows (left edge, right edge, count); (0, 3) for a histogram without values.
/// @threads Thread-safe.
/// @source  tensorboard/plugins/histogram/metadata.py; docs/event_file_format.md.
STEPTAPE_EXPORT event::Value histogramValue(std::string tag, const HistogramRaw& histogram,
                                            event::SummaryMetadata metadata = {},
                                            ValueForm form = ValueForm::kCompatible);

}  // namespace steptape::detail::values
