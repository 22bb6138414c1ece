// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "steptape/base/export.h"
#include "steptape/ranks/communicator.h"

namespace steptape {

/// Returns the prefix that distinguishes the ranks' messages in one terminal: "[rank 3/8 node] ".
STEPTAPE_EXPORT std::string rankPrefix(const Communicator& communicator);

/// Returns "rank 3 (node)", for messages that name a rank.
STEPTAPE_EXPORT std::string rankAndNode(int rank, std::string_view nodeName);

/// Prints `message` from this rank, with rankPrefix() before each line.
///
/// The whole message is one write to `out`, followed by a flush. So a launcher that merges the
/// ranks' output does not split it, and the last message of a failing rank is visible.
///
/// @threads Thread-safe if `out` is.
STEPTAPE_EXPORT void logFromRank(const Communicator& communicator, std::string_view message,
                                 std::ostream& out);

/// Prints `message` unchanged on the root; does nothing on other ranks. Not collective.
///
/// @threads Thread-safe if `out` is.
STEPTAPE_EXPORT void logFromRoot(const Communicator& communicator, std::string_view message,
                                 std::ostream& out);

}  // namespace steptape
