// SPDX-License-Identifier: Apache-2.0
// The collectives of Communicator that combine numbers.

#include "steptape/ranks/communicator.h"

#include "ranks/communicator/checked_calls.h"

namespace steptape {

void Communicator::allreduce(Elements data, ReduceOp op, const CollectiveOptions& options) {
  run(detail::allreduceCall(data, op, options));
}

CollectiveHandle Communicator::allreduceAsync(Elements data, ReduceOp op,
                                              const CollectiveOptions& options) {
  return post(detail::allreduceCall(data, op, options));
}

void Communicator::allreduce(Elements from, Elements to, ReduceOp op,
                             const CollectiveOptions& options) {
  run(detail::copyingAllreduceCall(from, to, op, options));
}

CollectiveHandle Communicator::allreduceAsync(Elements from, Elements to, ReduceOp op,
                                              const CollectiveOptions& options) {
  return post(detail::copyingAllreduceCall(from, to, op, options));
}

void Communicator::allreduceGrouped(const std::vector<Elements>& group, ReduceOp op,
                                    const CollectiveOptions& options) {
  run(detail::groupedAllreduceCall(group, op, options));
}

CollectiveHandle Communicator::allreduceGroupedAsync(const std::vector<Elements>& group,
                                                     ReduceOp op,
                                                     const CollectiveOptions& options) {
  return post(detail::groupedAllreduceCall(group, op, options));
}

void Communicator::allreduce(ArrayView<MetricMoments> data, const CollectiveOptions& options) {
  run(detail::momentsCall(data, options));
}

CollectiveHandle Communicator::allreduceAsync(ArrayView<MetricMoments> data,
                                              const CollectiveOptions& options) {
  return post(detail::momentsCall(data, options));
}

CollectiveHandle Communicator::allreduceAsync(ArrayView<const MetricMoments> from,
                                              ArrayView<MetricMoments> to,
                                              const CollectiveOptions& options) {
  return post(detail::copyingMomentsCall(from, to, options));
}

void Communicator::reduceScatter(Elements from, Elements to, ReduceOp op,
                                 const CollectiveOptions& options) {
  run(detail::reduceScatterCall(from, to, op, options));
}

CollectiveHandle Communicator::reduceScatterAsync(Elements from, Elements to, ReduceOp op,
                                                  const CollectiveOptions& options) {
  return post(detail::reduceScatterCall(from, to, op, options));
}

}  // namespace steptape
