// SPDX-License-Identifier: Apache-2.0
#include "storage/s3/bucket_url.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

#include "base/got_expected.h"
#include "base/text.h"

namespace steptape::detail::storage {
namespace {

constexpr std::string_view kScheme = "s3://";

bool isAlphanumeric(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 && static_cast<unsigned char>(c) < 128;
}

bool isBucketName(std::string_view name) {
  return name.size() >= 3 && name.size() <= 63 && isAlphanumeric(name.front()) &&
         isAlphanumeric(name.back()) && std::all_of(name.begin(), name.end(), [](char c) {
           return isAlphanumeric(c) || c == '-' || c == '.' || c == '_';
         });
}

}  // namespace

std::string BucketUrl::urlOf(const std::string& path) const {
  const std::string key = path.empty() ? prefix : keyOf(path);
  return std::string(kScheme) + bucket + (key.empty() ? "" : "/" + key);
}

bool isBucketUrl(std::string_view text) {
  return base::startsWith(text, kScheme);
}

BucketUrl parseBucketUrl(std::string_view text, const std::string& where) {
  BucketUrl url;
  if (isBucketUrl(text)) {
    const std::string_view rest = text.substr(kScheme.size());
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    url.bucket = rest.substr(0, slash);
    url.prefix = rest.substr(slash);
    url.prefix.erase(0, url.prefix.find_first_not_of('/'));
    url.prefix.erase(url.prefix.find_last_not_of('/') + 1);
  }
  if (!isBucketName(url.bucket)) {
    base::reject(base::quoted(text), "s3://BUCKET or s3://BUCKET/PREFIX", where);
  }
  return url;
}

std::string uriEncoded(std::string_view text, bool keepsSlash) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    if (isAlphanumeric(c) || c == '-' || c == '.' || c == '_' || c == '~' ||
        (c == '/' && keepsSlash)) {
      encoded += c;
    } else {
      encoded += '%';
      encoded += kDigits[static_cast<unsigned char>(c) >> 4];
      encoded += kDigits[static_cast<unsigned char>(c) & 15];
    }
  }
  return encoded;
}

std::string uriDecoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int high = i + 2 < text.size() && text[i] == '%' ? base::hexDigit(text[i + 1]) : -1;
    const int low = high >= 0 ? base::hexDigit(text[i + 2]) : -1;
    if (low >= 0) {
      decoded += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      decoded += text[i] == '+' ? ' ' : text[i];
    }
  }
  return decoded;
}

}  // namespace steptape::detail::storage
