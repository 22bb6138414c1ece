// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptape {

/// From now on std::terminate(), to which an exception that nobody catches leads, writes what all
/// writers have logged before it ends the process as before.
///
/// @threads Not thread-safe: called once.
void flushBeforeTerminate();

}  // namespace steptape
