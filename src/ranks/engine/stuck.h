// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steptape/base/export.h"

namespace steptape::detail::ranks {

/// Records that an operation between this process and others will never end: the process has to end
/// without waiting for it.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT void markStuck(const std::string& why);
/// Returns the first reason passed to markStuck(); empty if there is none.
STEPTAPE_EXPORT std::string stuckBecause();

}  // namespace steptape::detail::ranks
