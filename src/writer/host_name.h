// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace steptape {

/// The host's name, fit for a file name: letters, digits, '-', '_' and '.' only.
const std::string& hostName();

}  // namespace steptape
