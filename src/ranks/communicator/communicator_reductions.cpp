// SPDX-License-Identifier: Apache-2.0
// The collectives of Communicator that combine numbers.

#include "steptape/ranks/communicator.h"

#include "ranks/communicator/checked_calls.h"

namespace steptape {

void Communicator::allreduce(Elements data, ReduceOp op, const CollectiveOptions& options) {
  run(detail::ranks::allreduceCall(data, op, options));
}

CollectiveHandle Communicator::allreduceAsync(Elements data, ReduceOp op,
                                              const CollectiveOptions& options) {
  return post(detail::ranks::allreduceCall(data, op, options));
}

void Communicator::allreduce(Elements from, Elements to, ReduceOp op,
                             const CollectiveOptions& options) {
  run(detail::ranks::copyingAllreduceCall(from, to, op, options));
}

CollectiveHandle Communicator::allreduceAsync(Elements from, Elements to, ReduceOp op,
                                              const CollectiveOptions& options) {
  return post(detail::ranks::copyingAllreduceCall(from, to, op, options));
}

void Communicator::allreduceGrouped(const std::vector<Elements>& group, ReduceOp op,
                                    const CollectiveOptions& options) {
  run(detail::ranks::groupedAllreduceCall(group, op, options));
}

CollectiveHandle Communicator::allreduceGroupedAsync(const std::vector<Elements>& group,
                                                     ReduceOp op,
                                                     const CollectiveOptions& options) {
  return post(detail::ranks::groupedAllreduceCall(group, op, options));
}

void Communicator::allreduce(ArrayView<MetricMoments> data, const CollectiveOptions& options) {
  run(detail::ranks::momentsCall(data, options));
}

CollectiveHandle Communicator::allreduceAsync(ArrayView<MetricMoments> data,
                                              const CollectiveOptions& options) {
  return post(detail::ranks::momentsCall(data, options));
}

CollectiveHandle Communicator::allreduceAsync(ArrayView<const MetricMoments> from,
                                              ArrayView<MetricMoments> to,
                                              const CollectiveOptions& options) {
  return post(detail::ranks::copyingMomentsCall(from, to, options));
}

void Communicator::reduceScatter(Elements from, Elements to, ReduceOp op,
                                 const CollectiveOptions& options) {
  run(detail::ranks::reduceScatterCall(from, to, op, options));
}

CollectiveHandle Communicator::reduceScatterAsync(Elements from, Elements to, ReduceOp op,
                                                  const CollectiveOptions& options) {
  return post(detail::ranks::reduceScatterCall(from, to, op, options));
}

}  // namespace steptape
