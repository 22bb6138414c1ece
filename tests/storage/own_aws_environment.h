// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <unistd.h>

#include "steptape/ranks/testing.h"

namespace steptape::test {

/// During its lifetime, an environment without the user's settings for AWS, proxies and folders:
/// HOME is an empty folder, and no instance's server is asked.
///
/// @threads Not thread-safe: no thread of the test may read the environment meanwhile.
class OwnAwsEnvironment {
 public:
  OwnAwsEnvironment() {
    for (char** entry = ::environ; *entry != nullptr; ++entry) {
      const std::string text = *entry;
      const std::string name = text.substr(0, text.find('='));
      if (isOurs(name)) {
        before_[name] = text.substr(name.size() + 1);
      }
    }
    clear();
    set("HOME", home());
    set("AWS_EC2_METADATA_DISABLED", "true");
  }
  OwnAwsEnvironment(const OwnAwsEnvironment&) = delete;
  OwnAwsEnvironment& operator=(const OwnAwsEnvironment&) = delete;
  ~OwnAwsEnvironment() {
    clear();
    for (const auto& [name, value] : before_) {
      set(name, value);
    }
  }

  void set(const std::string& name, const std::string& value) {
    names_[name] = value;
    ::setenv(name.c_str(), value.c_str(), 1);
  }
  void unset(const std::string& name) { ::unsetenv(name.c_str()); }

  std::string home() const { return home_.string(); }

  /// Writes a file below HOME, and returns its path.
  std::string write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = home_.path() / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file.string();
  }

 private:
  static bool isOurs(const std::string& name) {
    const std::string end = name.substr(name.find_last_of('_') + 1);
    return name.compare(0, 4, "AWS_") == 0 || name == "S3_ENDPOINT" || name == "HOME" ||
           end == "proxy" || end == "PROXY";
  }

  void clear() {
    for (const auto* const names : {&before_, &names_}) {
      for (const auto& [name, value] : *names) {
        ::unsetenv(name.c_str());
      }
    }
  }

  const testing::TempDir home_;
  std::map<std::string, std::string> before_;
  std::map<std::string, std::string> names_;  // of the test
};

}  // namespace steptape::test
