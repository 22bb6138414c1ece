// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/profile/trace.h"

namespace steptape::detail::profile {

/// What a span is for, by the name that a library gave it.
enum class NameMeaning { kCollective, kWait, kInput, kForward, kBackward, kOptimizer };

/// Returns the meaning of a name of PyTorch, torch.distributed, Lightning, JAX, TensorFlow or
/// Horovod; none if there is none. docs/profiling.md lists the names.
///
/// @param kind The kind by the category of the span: names of XLA, TensorFlow and Horovod are
///             common words, so they count in spans of kZone only.
STEPTAPE_EXPORT std::optional<NameMeaning> meaningOf(std::string_view name, SpanKind kind);

/// Sets the kind of names whose meaning has one: kCollective, kWait or kInput. Names keep their
/// category.
///
/// @param names Names from a file that does not state kinds.
void recognizeKinds(std::vector<TraceName>* names);
void recognizeKind(TraceName* name);

}  // namespace steptape::detail::profile
