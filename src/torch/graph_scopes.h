// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "torch/graph_draft.h"

namespace steptape {

/// The deepest scope that holds both.
Scope commonScope(const Scope& a, const Scope& b);

/// One level of a scope: "conv1[Conv2d]".
std::string scopeLevel(std::string_view name, std::string_view type);

/// A C++ type as a scope shows it: without namespaces and without the "Impl" of LibTorch's holders,
/// so that "torch::nn::Conv2dImpl" becomes "Conv2d".
std::string shortTypeName(std::string_view type);

/// Gives every operator a scope.
///
/// One that reads parameters, or what was computed of parameters only, has the scope of their
/// module, or the deepest that they share. Any other has the deepest scope that its neighbors
/// share: those that made its inputs, and those that read its outputs. A model's inputs and outputs
/// belong to the root. Where a zone was open, operators with parameters inside it tell its scope,
/// which none of the others leaves.
void inferScopes(GraphDraft* draft);

/// Puts what ran in zones into scopes of the zones' names.
///
/// A zone becomes a scope inside the deepest scope that everything in it shares. A module moves
/// into it, with its parameters, if it lies directly below and all of it ran in the zone; one that
/// was also used outside stays where it is.
void applyZones(GraphDraft* draft);

}  // namespace steptape
