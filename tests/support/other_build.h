// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

namespace steptape::test {

/// Makes a copy of `program` in `directory` whose ranks claim to have another Steptape.
/// @return its path.
inline std::string programOfAnotherBuild(const std::string& program, const std::string& directory) {
  std::ifstream file(program, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::string claim = ", protocol ";
  const std::size_t at = bytes.find(claim);
  EXPECT_NE(at, std::string::npos) << program << " holds no text \"" << claim << '"';
  if (at != std::string::npos) {
    bytes.replace(at, claim.size(), ", prototype");
  }
  const std::string path = directory + "/other_build";
  std::ofstream(path, std::ios::binary) << bytes;
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

/// A regular expression for what all ranks report if rank 1 is such a program.
inline constexpr const char* kOtherBuildOfRank1 =
    "the start of the job: rank 1 \\([^)]*\\): got Steptape [0-9.]+, prototype.*; expected "
    "Steptape [0-9.]+, protocol .* as rank 0";

}  // namespace steptape::test
