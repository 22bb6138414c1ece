// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/programs/python_program.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <unistd.h>

namespace steptape::tools {
namespace {

std::string pythonBesideThisProgram() {
  std::error_code error;
  const auto python =
      std::filesystem::read_symlink("/proc/self/exe", error).replace_filename("python3");
  return !error && access(python.c_str(), X_OK) == 0 ? python.string() : std::string();
}

}  // namespace

std::string pythonToUse() {
  const char* named = std::getenv("STEPTAPE_PYTHON");
  if (named != nullptr && *named != '\0') {
    return named;
  }
  const std::string own = pythonBesideThisProgram();
  return own.empty() ? "python3" : own;
}

}  // namespace steptape::tools
