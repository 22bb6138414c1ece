// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "libtorch/graph/graph_draft.h"

namespace steptape::detail::libtorch {

/// Returns the deepest scope that contains both.
Scope commonScope(const Scope& a, const Scope& b);

/// Returns one level of a scope: "conv1[Conv2d]".
std::string scopeLevel(std::string_view name, std::string_view type);

/// Returns a C++ type for a scope: without namespaces and without the "Impl" of LibTorch's holders,
/// so that "torch::nn::Conv2dImpl" becomes "Conv2d".
std::string shortTypeName(std::string_view type);

/// Gives every operator a scope.
///
/// An operator that reads parameters, or values computed only from parameters, has the scope of
/// their module, or the deepest scope that they share. Any other operator has the deepest scope
/// that its neighbors share: the producers of its inputs and the readers of its outputs. A model's
/// inputs and outputs belong to the root. In an open zone, operators with parameters determine the
/// zone's scope, and its other operators stay within that scope.
void inferScopes(GraphDraft* draft);

/// Puts operators that ran in zones into scopes with the zones' names.
///
/// A zone becomes a scope inside the deepest scope that all its operators share. A module directly
/// below moves into it, with its parameters, if all of it ran in the zone. A module that was also
/// used outside stays.
void applyZones(GraphDraft* draft);

}  // namespace steptape::detail::libtorch
