// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "server/store/served_run.h"

namespace steptape::detail::server {

/// Chooses at most `most` points of a series, for a chart that hides nothing: always the last one;
/// then the first; then NaN and the extremes, of the series and of each of equally many stretches
/// of its steps, so that a peak of a single point stays; the rest evenly by step.
///
/// NaN gets at most half of the places. If there is more, it is thinned out evenly. Of the rest,
/// each stretch of steps has three places: for its smallest, its largest and a further point.
///
/// @return indices in ascending order; all of them if there are no more than `most`.
/// @threads Thread-safe.
/// @cost    One pass.
std::vector<std::size_t> chooseScalars(const TagView& tag, std::size_t most);

/// Chooses at most `most` points evenly by step, among them the last and, from two on, the first.
/// @return indices in ascending order.
std::vector<std::size_t> chooseEvenly(const TagView& tag, std::size_t most);

}  // namespace steptape::detail::server
