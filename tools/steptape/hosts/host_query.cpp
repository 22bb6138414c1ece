// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/hosts/host_query.h"

#include <charconv>
#include <fmt/format.h>
#include <string_view>

#include "steptape/base/version.h"

#include "base/got_expected.h"
#include "base/text.h"

namespace steptape::tools {
namespace {

constexpr std::string_view kVersion = "version=" STEPTAPE_VERSION;
constexpr std::string_view kDirectory = "directory=";
constexpr std::string_view kJob = "job=";
constexpr std::string_view kLaunch = "launch=";
constexpr std::string_view kRecover = "recover";
constexpr std::string_view kDiscard = "discard-missing";

bool isPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
         c == '.' || c == '_' || c == '-';
}

/// Replaces each other byte by '%' and two digits.
std::string plainText(const std::string& text) {
  std::string plain;
  for (const char c : text) {
    plain += isPlain(c)
                 ? std::string(1, c)
                 : fmt::format("%{:02x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
  return plain;
}

std::string originalText(std::string_view plain) {
  std::string text;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    if (plain[i] == '%' && i + 2 < plain.size()) {
      text += static_cast<char>(detail::base::hexDigit(plain[i + 1]) * 16 +
                                detail::base::hexDigit(plain[i + 2]));
      i += 2;
    } else {
      text += plain[i];
    }
  }
  return text;
}

}  // namespace

std::vector<std::string> HostQuery::encode() const {
  std::vector<std::string> words{std::string(kVersion)};
  if (recovers) {
    words.emplace_back(kRecover);
  }
  if (discardsMissing) {
    words.emplace_back(kDiscard);
  }
  for (const std::string& directory : directories) {
    words.push_back(std::string(kDirectory) + plainText(directory));
  }
  for (const std::string& job : jobs) {
    words.push_back(std::string(kJob) + plainText(job));
  }
  for (const std::uint64_t launch : launches) {
    words.push_back(std::string(kLaunch) + std::to_string(launch));
  }
  return words;
}

HostQuery HostQuery::decode(const std::vector<std::string>& words) {
  HostQuery query;
  if (words.empty() || words.front() != kVersion) {
    detail::base::reject(words.empty() ? "nothing" : words.front(), std::string(kVersion),
                         kAnswerCommand);
  }
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    std::uint64_t launch = 0;
    if (word == kRecover) {
      query.recovers = true;
    } else if (word == kDiscard) {
      query.discardsMissing = true;
    } else if (detail::base::startsWith(word, kDirectory)) {
      query.directories.push_back(originalText(word.substr(kDirectory.size())));
    } else if (detail::base::startsWith(word, kJob)) {
      query.jobs.push_back(originalText(word.substr(kJob.size())));
    } else if (detail::base::startsWith(word, kLaunch) &&
               std::from_chars(word.data() + kLaunch.size(), word.data() + word.size(), launch)
                       .ec == std::errc()) {
      query.launches.insert(launch);
    } else {
      detail::base::reject(detail::base::quoted(word), "what steptape " STEPTAPE_VERSION " asks",
                           kAnswerCommand);
    }
  }
  return query;
}

}  // namespace steptape::tools
