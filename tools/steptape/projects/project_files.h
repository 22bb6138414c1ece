// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace steptape::tools {

/// A file of tools/projects, without the line of its license.
struct ProjectFile {
  std::string kind;  // such as "mpi"
  std::string name;
  std::string text;
};

/// Returns the files of all kinds.
const std::vector<ProjectFile>& projectFiles();

}  // namespace steptape::tools
