// SPDX-License-Identifier: Apache-2.0
#include "ranks/communicator/single_rank.h"

#include <cstring>

#include "steptape/base/status.h"
#include "steptape/ranks/collective.h"

#include "ranks/communicator/group_messages.h"

namespace steptape::detail::ranks {
namespace {

void copyInput(const CollectiveCall& call, std::size_t elementBytes) {
  if (call.input != nullptr && call.count > 0) {
    std::memcpy(call.output, call.input, call.count * elementBytes);
  }
}

}  // namespace

void runAlone(const CollectiveCall& call) {
  if (call.hasElements()) {
    if (call.kind == CollectiveKind::kReduceScatter && call.inputCount != call.count) {
      throw Error(ErrorCode::kInvalidArgument, partsMismatchText(call, call.count));
    }
    copyInput(call, dtypeSize(call.dtype));
  } else if (call.kind == CollectiveKind::kAllreduceMoments) {
    copyInput(call, sizeof(MetricMoments));
  } else if (call.kind == CollectiveKind::kAllgather || call.kind == CollectiveKind::kGather) {
    call.fromRank->assign(1, std::string(static_cast<const char*>(call.input), call.inputCount));
  } else if (call.fromRank != nullptr) {
    *call.fromRank = *call.toRank;
  }
}

}  // namespace steptape::detail::ranks
