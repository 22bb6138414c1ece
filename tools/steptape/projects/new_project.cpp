// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/projects/new_project.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <set>
#include <string_view>
#include <sys/stat.h>
#include <system_error>

#include "steptape/base/status.h"
#include "steptape/base/version.h"

#include "base/file_kind.h"
#include "base/whole_file.h"
#include "tools/steptape/projects/project_files.h"

namespace steptape::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestName = 64;

bool isLetter(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z');
}

bool mayBeInName(char character) {
  return isLetter(character) || (character >= '0' && character <= '9') || character == '_' ||
         character == '-';
}

/// Returns whether a program of the name would be in the way: of a target that CMake makes, or of a
/// file in the build folder.
bool isTaken(const std::string& name) {
  static const std::set<std::string> kTaken{
      "ALL_BUILD", "CMakeFiles",     "INSTALL",       "Makefile", "PACKAGE",
      "RUN_TESTS", "Testing",        "ZERO_CHECK",    "all",      "clean",
      "depend",    "edit_cache",     "help",          "install",  "list_install_components",
      "package",   "package_source", "rebuild_cache", "steptape", "test"};
  return kTaken.count(name) != 0;
}

void replaceAll(std::string& text, std::string_view word, std::string_view by) {
  for (std::size_t at = text.find(word); at != std::string::npos;
       at = text.find(word, at + by.size())) {
    text.replace(at, word.size(), by);
  }
}

/// @throws Error(kFailedPrecondition) unless the folder is empty or does not exist.
void checkFolder(const std::string& folder) {
  struct stat status {};
  if (::lstat(folder.c_str(), &status) != 0) {
    return;  // Else writing names the reason.
  }
  std::error_code error;
  const bool isDirectory = fs::is_directory(folder, error);
  if (!isDirectory) {
    throw Error(ErrorCode::kFailedPrecondition,
                fmt::format("new {}: got {}; expected a new folder, or an empty one", folder,
                            detail::base::fileKindName(status.st_mode)));
  }
  const fs::directory_iterator first(folder, error);
  if (!error && first != fs::directory_iterator()) {
    throw Error(ErrorCode::kFailedPrecondition,
                fmt::format("new {}: got a folder that holds {}; expected a new folder, or an "
                            "empty one",
                            folder, first->path().filename().string()));
  }
}

}  // namespace

std::string projectName(const std::string& folder) {
  std::error_code error;
  const fs::path path = fs::absolute(folder, error).lexically_normal();
  return (path.has_filename() ? path : path.parent_path()).filename().string();
}

std::string projectNameProblem(const std::string& name) {
  if (name.empty() || !isLetter(name.front()) || name.size() > kLongestName ||
      !std::all_of(name.begin(), name.end(), mayBeInName)) {
    return fmt::format(
        "got the name '{}'; expected at most {} letters, digits, '_' and '-', and a letter first: "
        "the program gets this name",
        name, kLongestName);
  }
  if (isTaken(name)) {
    return fmt::format("got the name '{}'; expected another one: builds by CMake use it", name);
  }
  return "";
}

std::vector<std::string> writeProject(const std::string& kind, const std::string& folder) {
  checkFolder(folder);
  std::error_code unknown;
  const bool isNew = !fs::exists(folder, unknown);
  const std::string version = STEPTAPE_VERSION;
  std::vector<std::string> names;
  for (const ProjectFile& file : projectFiles()) {
    if (file.kind != kind) {
      continue;
    }
    std::string text = file.text;
    replaceAll(text, "@NAME@", projectName(folder));
    replaceAll(text, "@VERSION@", version.substr(0, version.rfind('.')));
    const Status status = detail::base::replaceFile((fs::path(folder) / file.name).string(), text);
    if (!status.ok()) {
      for (const std::string& written : names) {
        fs::remove(fs::path(folder) / written, unknown);
      }
      if (isNew) {
        fs::remove(folder, unknown);
      }
      status.throwIfError();
    }
    names.push_back(file.name);
  }
  return names;
}

}  // namespace steptape::tools
