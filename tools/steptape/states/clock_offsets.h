// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tools/steptape/states/rank_view.h"

namespace steptape::tools {

/// Sets RankView::clockOffset of the ranks of a job, whose hosts have clocks that differ.
///
/// A collective ends at about the same time on all hosts, so the offset of a host is the median
/// difference of the ends of the collectives that it and a host with a known offset have completed.
/// The first rank's host has offset 0, and so has a host that has no such collective.
void estimateClockOffsets(std::vector<RankView>* ranks);

}  // namespace steptape::tools
