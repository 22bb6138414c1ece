// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptape::detail::log {

/// Makes std::terminate(), which an uncaught exception calls, call `function` once before it ends
/// the process.
///
/// @threads Not thread-safe: call it once.
void callBeforeTerminate(void (*function)());

}  // namespace steptape::detail::log
