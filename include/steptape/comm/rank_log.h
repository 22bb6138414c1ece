// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "steptape/base/export.h"
#include "steptape/comm/communicator.h"

namespace steptape {

/// What tells the ranks' messages apart in one terminal: "[rank 3/8 node] ".
STEPTAPE_EXPORT std::string rankPrefix(const Communicator& communicator);

/// "rank 3 (node)", for messages that name a rank.
STEPTAPE_EXPORT std::string rankAndNode(int rank, std::string_view nodeName);

/// Prints `message` from this rank, each of its lines behind rankPrefix().
///
/// The whole message goes to `out` in one write and is flushed, so that a launcher which joins the
/// ranks' output does not cut it into pieces, and the last words of a dying rank are seen.
///
/// @threads Thread-safe as far as `out` is.
STEPTAPE_EXPORT void logFromRank(const Communicator& communicator, std::string_view message,
                                 std::ostream& out);

/// Prints `message` as it is, on the root; does nothing on other ranks. Not a collective.
///
/// @threads Thread-safe as far as `out` is.
STEPTAPE_EXPORT void logFromRoot(const Communicator& communicator, std::string_view message,
                                 std::ostream& out);

}  // namespace steptape
