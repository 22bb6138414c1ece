// SPDX-License-Identifier: Apache-2.0
#include "storage/s3/request_signature.h"

#include <array>
#include <cstdio>
#include <ctime>

#include "base/sha256.h"
#include "storage/s3/bucket_url.h"

namespace steptape::detail::storage {

std::string queryText(const std::map<std::string, std::string>& query) {
  std::string text;
  for (const auto& [name, value] : query) {
    text += (text.empty() ? "" : "&") + uriEncoded(name, /*keepsSlash=*/false) + '=' +
            uriEncoded(value, /*keepsSlash=*/false);
  }
  return text;
}

std::string amazonDate(double seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm utc{};
  gmtime_r(&time, &utc);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y%m%dT%H%M%SZ", &utc);
  return text.data();
}

std::string authorization(const SignedParts& parts, const Credentials& credentials,
                          const std::string& region) {
  std::string headers;
  std::string names;
  for (const auto& [name, value] : parts.headers) {
    headers += name + ':' + value + '\n';
    names += (names.empty() ? "" : ";") + name;
  }
  const std::string request = parts.method + '\n' + parts.path + '\n' + queryText(parts.query) +
                              '\n' + headers + '\n' + names + '\n' + parts.payloadHash;

  const std::string& time = parts.headers.at("x-amz-date");
  const std::string date = time.substr(0, time.find('T'));
  const std::string scope = date + '/' + region + "/s3/aws4_request";
  const std::string toSign =
      "AWS4-HMAC-SHA256\n" + time + '\n' + scope + '\n' + base::hexadecimal(base::sha256(request));

  base::Sha256Digest key = base::hmacSha256("AWS4" + credentials.secretAccessKey, date);
  for (const std::string& part : {region, std::string("s3"), std::string("aws4_request")}) {
    key = base::hmacSha256(base::bytesOf(key), part);
  }
  return "AWS4-HMAC-SHA256 Credential=" + credentials.accessKeyId + '/' + scope +
         ",SignedHeaders=" + names +
         ",Signature=" + base::hexadecimal(base::hmacSha256(base::bytesOf(key), toSign));
}

}  // namespace steptape::detail::storage
