// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "steptape/distributed/communicator.h"

namespace steptape::detail {

/// Gives every rank the root's `bytes`, whose size only the root knows. Collective.
inline void broadcastString(std::string& bytes, Communicator& world, int root) {
  std::uint64_t size = bytes.size();
  world.broadcast(&size, sizeof(size), root);
  bytes.resize(size);
  if (size > 0) {
    world.broadcast(bytes.data(), bytes.size(), root);
  }
}

}  // namespace steptape::detail
