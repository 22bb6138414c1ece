// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "steptape/base/array_view.h"
#include "steptape/span/span_record.h"

namespace steptape::detail {

/// Where each record of a thread belongs if parents are to come before their children: records come
/// in the order in which spans ended, which has them the other way round.
///
/// Detached spans and memory nest in nothing; they get kNowhere. Parents may be missing, as those
/// that were dropped or outlasted the window are.
///
/// @return by record; a permutation of 0, 1, ... without gaps.
/// @cost   Linear, where sorting by time would cost as much as writing the trace.
std::vector<std::uint32_t> preorder(ArrayView<const SpanRecord> records);

inline constexpr std::uint32_t kNowhere = ~std::uint32_t{0};

}  // namespace steptape::detail
