// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "steptape/base/export.h"
#include "steptape/log/summary_writer.h"
#include "steptape/ranks/communicator.h"

namespace steptape::detail::metrics {

/// Calls `open` on every rank and returns its writer if it succeeded on all. Collective.
///
/// @throws as runOnAllRanks().
SummaryWriter openOnAllRanks(Communicator& communicator,
                             const std::function<SummaryWriter()>& open);

/// Returns the root's `value` on every rank. Collective.
STEPTAPE_EXPORT std::string valueOfRoot(Communicator& communicator, const std::string& value);

}  // namespace steptape::detail::metrics
