// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "steptape/ranks/testing.h"

#include "storage/memory_bucket.h"
#include "storage/own_aws_environment.h"
#include "support/content_of.h"

#include <gtest/gtest.h>

namespace steptape::detail::storage {

/// A directory, and a bucket in memory that has what belongs into it below "exp/".
class MirrorTest : public ::testing::Test {
 protected:
  MirrorTest() { server_.useIn(&environment_); }

  std::string directory() const { return directory_.string(); }
  std::string pathOf(const std::string& name) const { return directory() + '/' + name; }
  void write(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories(std::filesystem::path(pathOf(name)).parent_path());
    std::ofstream(pathOf(name), std::ios::binary) << bytes;
  }
  void append(const std::string& name, const std::string& bytes) const {
    std::ofstream(pathOf(name), std::ios::binary | std::ios::app) << bytes;
  }
  std::string read(const std::string& name) const { return test::contentOf(pathOf(name)); }
  /// Returns the bytes of each file whose name does not begin with a dot.
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory())) {
      const std::filesystem::path& path = entry.path();
      if (entry.is_regular_file() && path.filename().string().front() != '.') {
        files[path.lexically_relative(directory()).string()] = test::contentOf(path.string());
      }
    }
    return files;
  }
  /// Returns the bytes of each object below "exp/".
  std::map<std::string, std::string> objects() const {
    std::map<std::string, std::string> objects;
    for (const auto& [key, bytes] : server_.contents()) {
      objects[key.substr(key.find('/') + 1)] = bytes;
    }
    return objects;
  }

  test::OwnAwsEnvironment environment_;
  const testing::TempDir directory_;
  test::MemoryBucket server_;
};

}  // namespace steptape::detail::storage
