// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/array_view.h"
#include "steptape/ranks/collective.h"

#include "ranks/communicator/collective_call.h"

namespace steptape::detail::ranks {

// These functions check the arguments of Communicator's calls and make a CollectiveCall. They throw
// Error(kInvalidArgument) with the name of the call if an argument is wrong on this rank.

/// Returns a call with only kind, name and comparison set.
CollectiveCall callFor(CollectiveKind kind, const CollectiveOptions& options);

CollectiveCall allreduceCall(const Elements& data, ReduceOp op, const CollectiveOptions& options);
/// Reduces in place if `from` and `to` are the same memory.
CollectiveCall copyingAllreduceCall(const Elements& from, const Elements& to, ReduceOp op,
                                    const CollectiveOptions& options);
/// Packs the arrays of `group`; see GroupedElements.
CollectiveCall groupedAllreduceCall(const std::vector<Elements>& group, ReduceOp op,
                                    const CollectiveOptions& options);
CollectiveCall momentsCall(ArrayView<MetricMoments> data, const CollectiveOptions& options);
CollectiveCall copyingMomentsCall(ArrayView<const MetricMoments> from, ArrayView<MetricMoments> to,
                                  const CollectiveOptions& options);
CollectiveCall reduceScatterCall(const Elements& from, const Elements& to, ReduceOp op,
                                 const CollectiveOptions& options);
CollectiveCall broadcastCall(void* data, std::size_t bytes, int root,
                             const CollectiveOptions& options);
CollectiveCall allgatherCall(std::string_view bytes, std::vector<std::string>& gathered,
                             const CollectiveOptions& options);
CollectiveCall gatherCall(std::string_view bytes, std::vector<std::string>& gathered, int root,
                          const CollectiveOptions& options);
/// @param size Number of ranks in the group.
CollectiveCall alltoallCall(const std::vector<std::string>& toRank,
                            std::vector<std::string>& fromRank, int size,
                            const CollectiveOptions& options);

}  // namespace steptape::detail::ranks
