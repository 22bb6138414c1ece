// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "steptape/profile/rank_summary.h"

namespace steptape::detail {

// A RankProfile on its way to another process of the same program. Shapes and modules of its
// operators are not sent: the operators of a window are distinguished by name and kind only.

std::string encodeRankProfile(const RankProfile& rank);

/// @throws Error(kRankMismatch) for bytes that encodeRankProfile() does not make.
RankProfile decodeRankProfile(std::string_view bytes);

}  // namespace steptape::detail
