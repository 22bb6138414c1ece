// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/json.h"

#include "base/json_chars.h"
#include "log/export/export_run.h"

namespace steptape::detail::log {

/// Appends `open`, each element by `append` with commas in between, and `close`.
template <typename Container, typename Append>
void appendJsonList(std::string_view open, const Container& elements, std::string_view close,
                    ExportText* out, const Append& append) {
  out->text() += open;
  bool isFirst = true;
  for (const auto& element : elements) {
    if (!isFirst) {
      out->text() += ',';
    }
    isFirst = false;
    append(element);
    out->flushIfLong();
  }
  out->text() += close;
}

/// Appends a double, which no reader takes for an integer.
inline void appendJsonReal(std::string* out, double value) {
  char digits[base::kMaxJsonNumber];
  out->append(digits, base::writeJsonReal(digits, value));
}

/// Appends `["a","b"]`.
inline void appendJsonStrings(const std::vector<std::string>& strings, ExportText* out) {
  appendJsonList("[", strings, "]", out,
                 [&](const std::string& each) { appendJsonString(&out->text(), each); });
}

/// Appends `[0.5,1.0]`.
inline void appendJsonReals(const std::vector<double>& numbers, ExportText* out) {
  appendJsonList("[", numbers, "]", out, [&](double each) { appendJsonReal(&out->text(), each); });
}

/// Appends `[2,3]`.
inline void appendJsonIntegers(const std::vector<std::int64_t>& integers, ExportText* out) {
  appendJsonList("[", integers, "]", out,
                 [&](std::int64_t each) { appendJsonInteger(&out->text(), each); });
}

/// Appends `before`, such as a comma, then `"key":"text"`.
inline void appendJsonMember(std::string_view before, std::string_view key, std::string_view text,
                             ExportText* out) {
  out->text().append(before).append("\"").append(key).append("\":");
  appendJsonString(&out->text(), text);
}

}  // namespace steptape::detail::log
