// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "steptape/base/export.h"

namespace steptape::detail::storage {

/// Where objects are: "s3://BUCKET/PREFIX".
struct STEPTAPE_EXPORT BucketUrl {
  std::string bucket;
  std::string prefix;  ///< Without a slash at either end; empty: the whole bucket.

  /// Returns the key of an object by its path below the prefix.
  std::string keyOf(const std::string& path) const {
    return prefix.empty() ? path : prefix + '/' + path;
  }
  /// Returns the URL of an object by its path below the prefix; of the prefix itself if empty.
  std::string urlOf(const std::string& path) const;
};

/// Whether `text` begins as a URL of a bucket does.
STEPTAPE_EXPORT bool isBucketUrl(std::string_view text);

/// @throws Error(kInvalidArgument), prefixed by "<where>: ", if `text` has no valid name of a
///         bucket: 3 to 63 of the characters a-z, 0-9, '.' and '-', or '_' and A-Z, which other
///         servers than AWS allow.
STEPTAPE_EXPORT BucketUrl parseBucketUrl(std::string_view text, const std::string& where);

/// Returns `text` with all bytes but letters, digits, '-', '.', '_' and '~' as %XX, for a URL.
///
/// @param keepsSlash Whether '/' stays, as in a path.
std::string uriEncoded(std::string_view text, bool keepsSlash);

/// Returns the text that a listing has encoded: as uriEncoded(), or with a space as "+".
std::string uriDecoded(std::string_view text);

}  // namespace steptape::detail::storage
