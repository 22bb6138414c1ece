// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "steptape/base/array_view.h"
#include "steptape/process/zone.h"

namespace steptape::detail::profile {

/// Returns the place of each record of a thread in preorder: parents before their children. Records
/// arrive in the order in which spans ended, where children come first.
///
///     time ------------------>         records    b  d  c  a
///     [a ------------------]           places     1  3  2  0
///        [b ---]  [c ----]             preorder   a  b  c  d
///                   [d ]
///
/// Detached spans and memory are in no span; their place is kNowhere. Parents may be missing: they
/// were discarded, or they outlasted the window.
///
/// @return one place per record; without kNowhere, a permutation of 0, 1, ...
/// @cost   Linear. Sorting by time would cost as much as writing the trace.
std::vector<std::uint32_t> preorder(ArrayView<const SpanRecord> records);

inline constexpr std::uint32_t kNowhere = ~std::uint32_t{0};

}  // namespace steptape::detail::profile
