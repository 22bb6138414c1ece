// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace steptape::tools {

/// Returns the directory of the CMake package that was installed together with this program: by an
/// installation, or by a wheel.
///
/// @throws Error(kFailedPrecondition) if there is none of this version.
std::string cmakeDirectory();

}  // namespace steptape::tools
