// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "steptape/profile/trace_summary.h"

namespace steptape::detail::profile {

// Encodes a RankProfile for another process of the same program. Shapes and modules of its
// operators are not sent: name and kind identify the operators of a window.

std::string encodeRankProfile(const RankProfile& rank);

/// @throws Error(kRankMismatch) for bytes that encodeRankProfile() does not make.
RankProfile decodeRankProfile(std::string_view bytes);

}  // namespace steptape::detail::profile
