// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steptape/base/export.h"

namespace steptape::detail::process {

class StatePage;

/// Keeps in the page where the code of the program and of its libraries is, which names the frames
/// of a stack. Does nothing if no library was loaded or unloaded since the last call, which costs
/// less than a microsecond.
///
/// May allocate and lock.
STEPTAPE_EXPORT void keepModules(StatePage& page) noexcept;

}  // namespace steptape::detail::process
