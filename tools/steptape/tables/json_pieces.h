// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_text.h"

namespace steptape::tools {

// Parts of the output of `--json`, each a valid piece of JSON for use in another one:
//
//     JsonObject().add("run", jsonString(name)).add("points", jsonInteger(points)).toString()

using detail::base::jsonNumber;
using detail::base::jsonString;

std::string jsonInteger(std::int64_t value);
std::string jsonInteger(std::uint64_t value);

std::string jsonBool(bool value);

/// Returns `values` as an array, one per line.
std::string jsonArray(const std::vector<std::string>& values);

/// Returns `values` as an array on one line, for short arrays such as a shape.
std::string jsonShortArray(const std::vector<std::string>& values);

/// Returns texts as an array on one line.
std::string jsonStrings(const std::vector<std::string>& texts);

/// An object on one line, built key by key.
class JsonObject {
 public:
  /// @param value A piece of JSON.
  JsonObject& add(std::string_view key, std::string_view value);

  std::string toString() const { return text_ + '}'; }

 private:
  std::string text_ = "{";
};

}  // namespace steptape::tools
