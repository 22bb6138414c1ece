// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace steptape::tools {

/// Returns the name of the project in `folder`, which is the folder's.
std::string projectName(const std::string& folder);

/// Returns why a program of CMake cannot have the name; empty if it can.
std::string projectNameProblem(const std::string& name);

/// Writes the project of a kind, such as "mpi", into a folder that is new or empty. A project that
/// cannot be written whole is removed.
///
/// @return The names of its files.
/// @throws Error(kFailedPrecondition) if the folder is neither; Error(kIoError).
std::vector<std::string> writeProject(const std::string& kind, const std::string& folder);

}  // namespace steptape::tools
