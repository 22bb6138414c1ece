// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/event/event.h"
#include "steptape/summary/tensor_view.h"
#include "steptape/summary/value_options.h"

#include "summary/histogram/histogram_bins.h"

namespace steptape {

/// A tensor's histogram, and what could not be binned.
struct HistogramData {
  HistogramRaw raw;               ///< Of the finite values only.
  std::uint64_t nanCount = 0;     ///< NaNs of either sign.
  std::uint64_t posInfCount = 0;  ///< +infinities.
  std::uint64_t negInfCount = 0;  ///< -infinities.
};

/// Counts the elements of `values` in TensorBoard's default buckets.
///
/// The limits are 0 and ±1e-12 · 1.1^k up to 1e20: 1549 of them, the same doubles as those of
/// TensorFlow, torch.utils.tensorboard and tensorboardX. A value that equals a limit is counted in
/// the bucket to the right of it; only the largest limit belongs to the bucket on its left, as in
/// numpy.histogram. Finite values beyond the outermost limits are counted in one more bucket on
/// either side. The result holds the buckets from the first to the last that is not empty; none if
/// there is no finite value.
///
/// The counts are exact for every type; integers of 64 bits are compared as doubles. The sums are
/// accumulated in double.
///
/// @shape   Any, also empty; any strides.
/// @threads Thread-safe.
/// @cost    One pass over the elements without a copy of the tensor, about 1.5 ns each for float32
///          (a binary search takes 37 ns on the same machine), and 7 us for the result. The first
///          call of the process fills a table of 256 KiB, or 512 KiB for double, in 0.3 ms.
/// @source  tensorflow/core/lib/histogram/histogram.cc (limits); numpy.histogram (last limit).
STEPTAPE_EXPORT HistogramData computeHistogram(const TensorView& values);

/// Counts the elements of `values` in buckets of the caller's choice.
///
/// Every finite value is counted, so that `num` is the sum of the counts: values outside of given
/// edges in one more bucket on either side. The result holds the buckets from the first to the last
/// that is not empty. Edges so close that doubles cannot tell them apart become one.
///
/// @param bins    See HistogramBins; the default is computeHistogram(values).
/// @param maxBins At most this many buckets; 0: as many as `bins` gives. Where there are more, each
///                bucket of the result is ceil(buckets / maxBins) neighbors joined, the last one
///                what is left: counts add up, and edges are some of those that were there.
/// @throws  Error(kInvalidArgument) as checkHistogramBins().
/// @threads Thread-safe.
/// @cost    A count, and "sturges", "rice" and "sqrt": two passes without a copy, about 8 ns an
///          element. Edges: one pass with a binary search. The other rules copy the elements as
///          doubles first; "fd" and "auto" then take quartiles from the copy in linear time.
STEPTAPE_EXPORT HistogramData computeHistogram(const TensorView& values, const HistogramBins& bins,
                                               int maxBins = 0);

/// Checks what the caller chose; reads no tensor.
///
/// @param maxBins HistogramOptions::maxBins.
/// @throws Error(kInvalidArgument) naming an unknown rule and those there are, a count outside of
///         1..kMaxCount, fewer than two edges, the first edge that is not finite or not above the
///         one before it, or a negative `maxBins`.
/// @threads Thread-safe.
STEPTAPE_EXPORT void checkHistogramBins(const HistogramBins& bins, int maxBins = 0);

/// Checks a histogram that the caller counted.
///
/// @throws Error(kInvalidArgument) naming both lengths if there is not one count per limit, or the
///         first limit that is NaN or not above the one before it, or the first count that is
///         negative or not finite, or `min` and `max` if they are not finite or the wrong way
///         round.
/// @threads Thread-safe.
STEPTAPE_EXPORT void checkHistogram(const HistogramRaw& histogram);

/// Makes the value that TensorBoard's histogram, distribution and time-series pages show.
///
/// Empty buckets at both ends are left out, the first kept bucket begins at `min` and the last one
/// ends at `max`: the edges that TensorBoard itself gives to histograms of the compatible form.
/// Every bucket begins where the one before it ends, and none runs backwards.
///
/// @param histogram REQUIRES: checkHistogram() accepts it.
/// @param metadata  Display name and description; plugin and data class are set here.
/// @shape   kCompatible: a SummaryHistogram with metadata only where that names something. Where
///          binary32, in which TensorBoard's Python loader reads that form, cannot hold the edges
///          or tell them apart, and always with kTensor: a tensor of (buckets, 3), DT_DOUBLE, rows
///          (left edge, right edge, count); (0, 3) for a histogram without values.
/// @threads Thread-safe.
/// @source  tensorboard/plugins/histogram/metadata.py; docs/event_file_format.md.
STEPTAPE_EXPORT event::Value histogramValue(std::string tag, const HistogramRaw& histogram,
                                            event::SummaryMetadata metadata = {},
                                            ValueForm form = ValueForm::kCompatible);

}  // namespace steptape
