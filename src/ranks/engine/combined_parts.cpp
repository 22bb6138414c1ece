// SPDX-License-Identifier: Apache-2.0
#include "ranks/engine/combined_parts.h"

#include "steptape/ranks/collective.h"

#include "ranks/communicator/element_reduction.h"

namespace steptape::detail::ranks {

void combineParts(const CollectiveCall& call, ReduceOp op, ArrayView<const void* const> parts,
                  std::size_t count, void* result) {
  if (call.kind != CollectiveKind::kAllreduceMoments) {
    reduceElements(parts, count, call.dtype, op, result);
    return;
  }
  auto* const to = static_cast<MetricMoments*>(result);
  for (std::size_t i = 0; i < count; ++i) {
    MetricMoments total = static_cast<const MetricMoments*>(parts[0])[i];
    for (std::size_t rank = 1; rank < parts.size(); ++rank) {
      total.merge(static_cast<const MetricMoments*>(parts[rank])[i]);
    }
    to[i] = total;
  }
}

}  // namespace steptape::detail::ranks
