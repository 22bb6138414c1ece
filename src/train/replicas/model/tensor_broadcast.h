// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/ranks/communicator.h"

#include "train/replicas/model/named_tensors.h"

namespace steptape::detail::train {

/// Smaller tensors are sent together, up to this many bytes: sending a few hundred bytes takes as
/// long as sending a few thousand.
inline constexpr std::size_t kBroadcastGroupBytes = std::size_t{1} << 20;

/// Copies the root's elements to every rank. REQUIRES: the ranks' tensors have the same schema.
STEPTAPE_EXPORT void broadcastTensors(const std::vector<NamedTensor>& tensors, Communicator& world,
                                      int root);

}  // namespace steptape::detail::train
