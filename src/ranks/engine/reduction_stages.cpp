// SPDX-License-Identifier: Apache-2.0
// Reductions that the transport can execute.

#include "ranks/communicator/element_reduction.h"
#include "ranks/engine/collective_stages.h"
#include "ranks/engine/part_sizes.h"

namespace steptape::detail::ranks {
namespace {

/// Makes averages of the sums, where that is still to be done.
void finishAverage(const CollectiveCall& call, int ranks) {
  if (call.op != combinedBy(call)) {
    divideElements(call.output, call.count, call.dtype, ranks);
  }
}

class Allreduce final : public CollectiveStages {
 public:
  using CollectiveStages::CollectiveStages;

  bool postNext(Transfers& transfers) override {
    forEachChunk(call_.count, maxCount(), [&](std::size_t offset, int chunk) {
      transfers.add(transport_.allreduce(call_, offset, static_cast<std::size_t>(chunk)));
    });
    return false;
  }

  void finish() override { finishAverage(call_, transport_.map().size()); }
};

class ReduceScatter final : public CollectiveStages {
 public:
  using CollectiveStages::CollectiveStages;

  bool postNext(Transfers& transfers) override {
    if (!parts_.arePosted()) {
      parts_.post(transport_, call_, transfers);
      return true;
    }
    parts_.check(call_);
    counts_.assign(parts_.sizes().begin(), parts_.sizes().end());
    transfers.add(transport_.reduceScatter(call_, counts_));
    return false;
  }

  void finish() override { finishAverage(call_, transport_.map().size()); }

 private:
  PartSizes parts_;
  std::vector<int> counts_;  // the transport reads them until the operation has ended
};

}  // namespace

std::unique_ptr<CollectiveStages> makeReduction(Transport& transport, const CollectiveCall& call) {
  if (call.kind == CollectiveKind::kReduceScatter) {
    return std::make_unique<ReduceScatter>(transport, call);
  }
  return std::make_unique<Allreduce>(transport, call);
}

}  // namespace steptape::detail::ranks
