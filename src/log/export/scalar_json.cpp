// SPDX-License-Identifier: Apache-2.0
#include "log/export/scalar_json.h"

#include "steptape/base/json.h"

#include "base/json_chars.h"

namespace steptape::detail::log {

bool isSubRunCurve(const std::string& directory, const std::string& tag) {
  return ("/" + directory).find("/" + tag + "/") != std::string::npos;
}

Status writeScalarJson(ScalarSpool* spool, const std::function<void(std::string_view)>& write,
                       std::vector<std::string>* notes) {
  constexpr std::size_t kPiece = 64 << 10;
  std::vector<CurveName> curves = spool->curves();
  makeDistinct(&curves, notes);
  std::string text = "{";
  bool isFirstSeries = true;
  bool isFirstPoint = true;
  Status status = spool->forEach(
      [&](std::size_t series) {
        text += isFirstSeries ? "\n" : "],\n";
        isFirstSeries = false;
        isFirstPoint = true;
        appendJsonString(&text, curves[series].name);
        text += ": [";
      },
      [&](const ScalarSpool::Point& point) {
        char json[3 * base::kMaxJsonNumber + 8];
        char* end = base::writeText(json, isFirstPoint ? "[" : ", [");
        isFirstPoint = false;
        end = base::writeText(base::writeJsonNumber(end, point.wallTime), ", ");
        end = base::writeText(base::writeJsonInteger(end, point.step), ", ");
        end = base::writeText(base::writeJsonNumber(end, point.value), "]");
        text.append(json, end);
        if (text.size() >= kPiece) {
          write(text);
          text.clear();
        }
      });
  text += isFirstSeries ? "}\n" : "]\n}\n";
  write(text);
  return status;
}

}  // namespace steptape::detail::log
