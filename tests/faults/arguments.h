// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

namespace steptape::test {

/// The arguments of a job: `name=value` on its command line.
class Arguments {
 public:
  Arguments(int argc, const char* const* argv) {
    for (int i = 1; i < argc; ++i) {
      const std::string argument = argv[i];
      const std::size_t end = argument.find('=');
      values_[argument.substr(0, end)] = end == std::string::npos ? "" : argument.substr(end + 1);
    }
  }

  std::string text(const std::string& name, const std::string& otherwise = "") const {
    const auto found = values_.find(name);
    return found == values_.end() ? otherwise : found->second;
  }
  int number(const std::string& name, int otherwise) const {
    return std::stoi(text(name, std::to_string(otherwise)));
  }

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace steptape::test
