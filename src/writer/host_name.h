// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steptape/base/export.h"

namespace steptape::detail {

/// The host's name, fit for a file name: letters, digits, '-', '_' and '.' only.
STEPTAPE_EXPORT const std::string& hostName();

}  // namespace steptape::detail
