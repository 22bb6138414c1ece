// SPDX-License-Identifier: Apache-2.0
#include "storage/s3/key_document.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>

#include "base/got_expected.h"

namespace steptape::detail::storage {
namespace {

using nlohmann::json;

constexpr std::size_t kMostDocumentBytes = std::size_t{64} << 10;
constexpr std::size_t kMostShown = 60;

std::string stringIn(const json& document, const char* name) {
  const auto found = document.find(name);
  return found != document.end() && found->is_string() ? found->get_ref<const std::string&>() : "";
}

Status documentError(const std::string& got, const std::string& expected) {
  return {ErrorCode::kIoError, base::gotExpected(got, expected)};
}

/// Returns a code such as "AssumeRoleUnauthorizedAccess": words, and not a secret.
bool isErrorCode(const std::string& text) {
  return text.size() <= kMostShown && std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::isalpha(c) != 0;
         });
}

}  // namespace

std::optional<double> secondsOfIsoTime(const std::string& text) {
  std::tm time{};
  int end = 0;
  if (std::sscanf(text.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d%n", &time.tm_year, &time.tm_mon,
                  &time.tm_mday, &time.tm_hour, &time.tm_min, &time.tm_sec, &end) != 6) {
    return std::nullopt;
  }
  std::string zone = text.substr(static_cast<std::size_t>(end));
  if (!zone.empty() && zone.front() == '.') {
    zone.erase(0, std::min(zone.find_first_not_of("0123456789", 1), zone.size()));
  }
  int hours = 0;
  int minutes = 0;
  char sign = '+';
  const bool isUtc = zone == "Z";
  if (!isUtc && (std::sscanf(zone.c_str(), "%c%2d:%2d%n", &sign, &hours, &minutes, &end) != 3 ||
                 static_cast<std::size_t>(end) != zone.size() || (sign != '+' && sign != '-'))) {
    return std::nullopt;
  }
  time.tm_year -= 1900;
  time.tm_mon -= 1;
  const double offset = (hours * 60 + minutes) * 60;
  return static_cast<double>(::timegm(&time)) - (sign == '-' ? -offset : offset);
}

Status setExpiry(const std::string& text, Credentials* keys) {
  if (text.empty()) {
    return {};
  }
  const std::optional<double> seconds = secondsOfIsoTime(text);
  if (!seconds) {
    return documentError("Expiration " + base::quoted(text.substr(0, kMostShown)),
                         "a time such as 2026-11-29T12:00:00Z");
  }
  keys->expires = *seconds;
  return {};
}

Status readKeyDocument(std::string_view text, KeyDocument kind, Credentials* keys) {
  if (text.size() > kMostDocumentBytes) {
    return documentError(std::to_string(text.size()) + " bytes",
                         "at most " + std::to_string(kMostDocumentBytes));
  }
  const json document = json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) {
    return documentError(document.is_discarded() ? "a text that is no JSON" : "no object",
                         "a JSON object with keys");
  }
  const std::string code = stringIn(document, "Code");
  if (kind == KeyDocument::kServer && !code.empty() && code != "Success") {
    return documentError(isErrorCode(code) ? "the code " + code : "another code", "Success");
  }
  if (kind == KeyDocument::kProgram) {
    const auto version = document.find("Version");
    if (version == document.end() || !version->is_number_integer() || *version != 1) {
      return documentError("a Version that is not 1", "\"Version\": 1");
    }
  }
  keys->accessKeyId = stringIn(document, "AccessKeyId");
  keys->secretAccessKey = stringIn(document, "SecretAccessKey");
  keys->sessionToken = stringIn(document, kind == KeyDocument::kProgram ? "SessionToken" : "Token");
  if (keys->accessKeyId.empty() || keys->secretAccessKey.empty()) {
    return documentError(keys->accessKeyId.empty() ? "no AccessKeyId" : "no SecretAccessKey",
                         "both");
  }
  return setExpiry(stringIn(document, "Expiration"), keys);
}

}  // namespace steptape::detail::storage
