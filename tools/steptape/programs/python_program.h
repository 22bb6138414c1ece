// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace steptape::tools {

/// Returns the Python to run: $STEPTAPE_PYTHON, else the python3 in this program's directory, which
/// is that of its virtual environment, else "python3", which is looked up in PATH.
std::string pythonToUse();

}  // namespace steptape::tools
