// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "storage/s3/credentials.h"

namespace steptape::detail::storage {

/// What of a request is signed.
struct SignedParts {
  std::string method;
  std::string path;                            ///< As it is sent: uriEncoded() once.
  std::map<std::string, std::string> query;    ///< Not encoded.
  std::map<std::string, std::string> headers;  ///< By names in lower case; with "host".
  std::string payloadHash;                     ///< SHA-256 of the body, as hexadecimal digits.
};

/// Returns a query as it is signed and sent: encoded, and ordered by name.
std::string queryText(const std::map<std::string, std::string>& query);

/// Returns `seconds` since 1970 as the header x-amz-date has it: "20130524T000000Z".
std::string amazonDate(double seconds);

/// Returns the value of the header Authorization for service s3: Signature Version 4. All of
/// `headers` are signed, which must hold x-amz-date.
///
/// @source https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
std::string authorization(const SignedParts& parts, const Credentials& credentials,
                          const std::string& region);

}  // namespace steptape::detail::storage
