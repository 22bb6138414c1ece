// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "steptape/ranks/collective.h"

#include "ranks/c10d/key_store.h"
#include "ranks/c10d/tcp_store.h"
#include "ranks/engine/transport.h"

namespace steptape::c10d::detail {

/// Returns whether this library was built with gloo's headers.
bool hasGloo();

/// What a transport over gloo needs.
struct GlooSetup {
  std::shared_ptr<TcpStore> tcp;
  std::shared_ptr<KeyStore> keys;  ///< Of the group.
  std::string prefix;              ///< The name of these keys in `tcp`.
  std::string networkInterfaces;   ///< Empty: gloo's default.
  std::chrono::milliseconds timeout;
  /// Tells which ranks of the node live; may be null.
  std::shared_ptr<NodeMemory> presence;
};

/// Makes a transport over LibTorch's process groups with gloo, which moves data by TCP. All ranks
/// call it.
///
/// REQUIRES: hasGloo()
/// @throws Error(kDeadlineExceeded) if ranks cannot be reached.
std::shared_ptr<steptape::detail::ranks::Transport> makeGlooTransport(
    const GlooSetup& setup, const steptape::detail::ranks::GroupMap& map);

}  // namespace steptape::c10d::detail
