// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/runs/path_check.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <fmt/format.h>
#include <sys/stat.h>
#include <system_error>

#include "base/file_kind.h"

namespace steptape::tools {
namespace {

/// What is wrong with the path as an argument; empty if nothing is.
std::string problemOf(const std::string& path, bool mayBeDirectory, bool mayBeFile,
                      const std::string& expected) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    return fmt::format("cannot find {}: {}; expected {}", path,
                       std::generic_category().message(errno), expected);
  }
  if ((mayBeDirectory && S_ISDIR(status.st_mode)) || (mayBeFile && S_ISREG(status.st_mode))) {
    return "";
  }
  return fmt::format("{} {}: got {}; expected {}", mayBeFile ? "cannot read" : "cannot write into",
                     path, detail::fileKindName(status.st_mode), expected);
}

/// @param type What completion makes of the option; see command_info.cpp.
void addCheck(CLI::Option* option, const char* type, bool mayBeDirectory, bool mayBeFile,
              const std::string& expected) {
  option->check(CLI::Validator(
      [=](const std::string& path) { return problemOf(path, mayBeDirectory, mayBeFile, expected); },
      type));
}

}  // namespace

void expectPath(CLI::Option* option, const std::string& file) {
  addCheck(option, "PATH", true, true, "a directory or a regular " + file);
}

void expectFile(CLI::Option* option, const std::string& file) {
  addCheck(option, "FILE", false, true, "a regular " + file);
}

void expectDirectory(CLI::Option* option) {
  addCheck(option, "DIR", true, false, "a directory");
}

}  // namespace steptape::tools
