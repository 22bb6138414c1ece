// SPDX-License-Identifier: Apache-2.0
//
// Reads the safetensors files that stdin names, one a line, and prints a line of JSON for each: the
// tensors and the metadata, or why the file is refused.
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "steptape/base/status.h"
#include "steptape/train/safetensors.h"

namespace {

nlohmann::json contentOf(const std::string& path) {
  const steptape::SafetensorsFile file(path);
  nlohmann::json content = {{"tensors", nlohmann::json::object()}, {"metadata", file.metadata()}};
  for (const auto& entry : file.entries()) {
    std::string elements(entry.bytes, '\0');
    file.read(entry, elements.data());
    content["tensors"][entry.name] = {steptape::safetensorsDTypeName(entry.dtype), entry.shape,
                                      std::vector<int>(elements.begin(), elements.end())};
  }
  return content;
}

}  // namespace

int main() {
  for (std::string path; std::getline(std::cin, path);) {
    nlohmann::json content;
    try {
      content = contentOf(path);
    } catch (const steptape::Error& error) {
      content = {{"refused", error.what()}};
    }
    std::cout << content.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) << '\n';
  }
  return 0;
}
