// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptape::tools {

// For commands that print again and again until Ctrl-C.

/// Makes SIGINT and SIGTERM end the next waitFor(), so that the command ends between two outputs
/// and not within one; a second signal ends the program at once. Writing to a pipe whose reader has
/// exited then fails with an error.
void endOnInterrupt();

/// @return false on a signal, and when the reader of the output has closed it.
bool waitFor(double seconds);

}  // namespace steptape::tools
