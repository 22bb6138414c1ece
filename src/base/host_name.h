// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steptape/base/export.h"

namespace steptape::detail::base {

/// Returns the host's name as part of a file name: only letters, digits, '-', '_' and '.'.
STEPTAPE_EXPORT const std::string& hostName();

}  // namespace steptape::detail::base
