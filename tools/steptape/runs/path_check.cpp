// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/runs/path_check.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <fmt/format.h>
#include <sys/stat.h>
#include <system_error>

#include "steptape/base/status.h"

#include "base/file_kind.h"
#include "storage/s3/bucket_url.h"
#include "tools/steptape/runs/path_pattern.h"

namespace steptape::tools {
namespace {

/// Returns why the path cannot be an argument; empty if it can.
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
                     path, detail::base::fileKindName(status.st_mode), expected);
}

/// Returns why the text is no URL of a bucket; empty if it is one.
std::string problemOfUrl(const std::string& text) {
  try {
    static_cast<void>(detail::storage::parseBucketUrl(text, ""));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string problemOfPathOrUrl(const std::string& text, const std::string& expected) {
  return detail::storage::isBucketUrl(text) ? problemOfUrl(text)
                                            : problemOf(text, true, true, expected);
}

/// @param type How completion treats the option; see command_info.cpp.
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

void expectPathOrPattern(CLI::Option* option, const std::string& file) {
  const std::string expected = "a directory or a regular " + file;
  const auto problemOfAny = [expected](const std::string& given) {
    const std::vector<std::string> paths = replacePatterns({given});
    std::string problem = paths.empty() ? problemOf(given, true, true, expected) : "";
    for (std::size_t i = 0; i < paths.size() && problem.empty(); ++i) {
      problem = problemOfPathOrUrl(paths[i], expected);
    }
    return problem;
  };
  option->check(CLI::Validator(problemOfAny, "PATH"));
}

void expectPathOrUrl(CLI::Option* option, const std::string& file) {
  const std::string expected = "a directory or a regular " + file;
  option->check(CLI::Validator(
      [expected](const std::string& given) { return problemOfPathOrUrl(given, expected); },
      "PATH"));
}

void expectFile(CLI::Option* option, const std::string& file) {
  addCheck(option, "FILE", false, true, "a regular " + file);
}

void expectDirectory(CLI::Option* option) {
  addCheck(option, "DIR", true, false, "a directory");
}

}  // namespace steptape::tools
