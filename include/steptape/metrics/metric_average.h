// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include "steptape/base/export.h"
#include "steptape/ranks/communicator.h"

namespace steptape {
namespace detail::metrics {

STEPTAPE_EXPORT double metricAverage(Communicator& communicator, double sum, double count);

}  // namespace detail::metrics

/// Averages a metric over the samples of all ranks: the sum of the ranks' `sum` divided by the sum
/// of their `count`.
///
/// Shards of unequal size count by their samples. The result is bit-identical on every rank and for
/// every MPI algorithm: every rank adds the values in double, in the order of the ranks.
///
///     double accuracy = steptape::metricAverage(*world, correct, total);
///
/// Collective: every rank calls it, in the same order.
///
/// @param communicator The ranks to average over.
/// @param sum   Sum over this rank's samples; NaN and infinities propagate to the average.
/// @param count Number of samples in `sum`; 0 on a rank without samples.
/// @units  `sum` in the metric's unit times samples.
/// @throws Error(kRankMismatch) on every rank if no rank has a sample; Error(kInvalidArgument) on
///         every rank if one count is negative or not finite; Error(kDeadlineExceeded) if a rank
///         does not arrive.
/// @threads Not thread-safe: only the communicator's thread, one at a time.
/// @cost   One allgather of 16 bytes per rank. For several metrics of a step, DistributedWriter
///         needs one collective in total.
template <typename Sum, typename Count>
double metricAverage(Communicator& communicator, Sum sum, Count count) {
  static_assert(std::is_arithmetic_v<Sum> && std::is_arithmetic_v<Count>,
                "metricAverage takes numbers: the sum on this rank and its number of samples");
  return detail::metrics::metricAverage(communicator, static_cast<double>(sum),
                                        static_cast<double>(count));
}

}  // namespace steptape
