// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "log/curves/tag_curve.h"

namespace steptape::detail::log {

/// Tells whether the loss of a validation rises while that of its training falls.
///
/// @return the message; nothing if they do not part.
std::optional<std::string> partingOf(const TagCurve& training, const TagCurve& validation);

}  // namespace steptape::detail::log
