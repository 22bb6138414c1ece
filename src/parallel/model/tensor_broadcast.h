// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/comm/communicator.h"

#include "parallel/model/named_tensors.h"

namespace steptape::detail {

/// Tensors smaller than this travel together, up to so many bytes: sending a few hundred bytes
/// takes as long as sending a few thousand.
inline constexpr std::size_t kBroadcastGroupBytes = std::size_t{1} << 20;

/// Gives every rank the root's elements. REQUIRES: the ranks' tensors have the same schema.
STEPTAPE_EXPORT void broadcastTensors(const std::vector<NamedTensor>& tensors, Communicator& world,
                                      int root);

}  // namespace steptape::detail
