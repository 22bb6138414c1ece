// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include "steptape/base/export.h"
#include "steptape/comm/communicator.h"

namespace steptape {
namespace detail {

STEPTAPE_EXPORT double metricAverage(Communicator& communicator, double sum, double count);

}  // namespace detail

/// The average of a metric over the samples of all ranks: the sum of the ranks' `sum` divided by
/// the sum of their `count`.
///
/// Weighted by samples, so that shards of unequal size count for what they hold. The same on every
/// rank, to the last bit, and the same whatever algorithm MPI chooses: every rank adds the ranks'
/// values in the order of the ranks, in double.
///
///     double accuracy = steptape::metricAverage(*world, correct, total);
///
/// Collective: every rank calls it, in the same order.
///
/// @param sum   Any number; NaN and infinities pass through to the average.
/// @param count Samples behind `sum`; 0 on a rank that had none.
/// @units `sum` in the metric's unit times samples.
/// @throws Error(kRankMismatch) on every rank if no rank had a sample; Error(kInvalidArgument) on
///         every rank if the count of one is negative or not finite; Error(kDeadlineExceeded) if a
///         rank does not come.
/// @threads Not thread-safe: one thread at a time, the communicator's.
/// @cost One allgather of 16 bytes per rank. For several metrics of a step, DistributedWriter
///       needs one collective for all.
template <typename Sum, typename Count>
double metricAverage(Communicator& communicator, Sum sum, Count count) {
  static_assert(std::is_arithmetic_v<Sum> && std::is_arithmetic_v<Count>,
                "metricAverage takes numbers: the sum on this rank and its number of samples");
  return detail::metricAverage(communicator, static_cast<double>(sum), static_cast<double>(count));
}

}  // namespace steptape
