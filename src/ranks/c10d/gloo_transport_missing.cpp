// SPDX-License-Identifier: Apache-2.0
// In place of gloo_transport.cpp, where gloo's headers are missing.

#include "ranks/c10d/gloo_transport.h"

namespace steptape::c10d::detail {

bool hasGloo() {
  return false;
}

std::shared_ptr<steptape::detail::ranks::Transport> makeGlooTransport(
    const GlooSetup& /*setup*/, const steptape::detail::ranks::GroupMap& /*map*/) {
  return nullptr;
}

}  // namespace steptape::c10d::detail
