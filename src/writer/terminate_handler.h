// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptape::detail {

/// From now on std::terminate(), to which an exception that nobody catches leads, calls `function`
/// once before it ends the process as before.
///
/// @threads Not thread-safe: called once.
void callBeforeTerminate(void (*function)());

}  // namespace steptape::detail
