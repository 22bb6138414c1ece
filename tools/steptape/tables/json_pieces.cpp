// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/tables/json_pieces.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "steptape/base/json.h"

namespace steptape::tools {

std::string jsonInteger(std::int64_t value) {
  return fmt::to_string(value);
}

std::string jsonInteger(std::uint64_t value) {
  return fmt::to_string(value);
}

std::string jsonBool(bool value) {
  return value ? "true" : "false";
}

std::string jsonArray(const std::vector<std::string>& values) {
  return values.empty() ? "[]" : fmt::format("[\n{}\n]", fmt::join(values, ",\n"));
}

std::string jsonShortArray(const std::vector<std::string>& values) {
  return fmt::format("[{}]", fmt::join(values, ", "));
}

std::string jsonStrings(const std::vector<std::string>& texts) {
  std::vector<std::string> strings;
  strings.reserve(texts.size());
  for (const std::string& text : texts) {
    strings.push_back(jsonString(text));
  }
  return jsonShortArray(strings);
}

JsonObject& JsonObject::add(std::string_view key, std::string_view value) {
  text_ += text_.size() > 1 ? ", " : "";
  appendJsonString(&text_, key);
  text_ += ": ";
  text_ += value;
  return *this;
}

}  // namespace steptape::tools
