// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/base/status.h"

#include "storage/s3/bucket_url.h"

namespace steptape::detail::storage {

struct SentDirectory {
  std::uint64_t files = 0;  ///< All that isMirrored() lets into a bucket.
  std::uint64_t sent = 0;   ///< Of these, those that were new or had changed.
  std::uint64_t bytes = 0;  ///< Of the sent ones.
  /// Files that the bucket lacks. Once the server refuses, or does not answer, only the first.
  std::vector<Status> problems;
};

/// Brings a directory to a bucket once, on several threads, by the rules of ObjectWriter. A server
/// that is busy is asked again a few times.
///
/// @param patience   After this, what is left is a problem.
/// @param onProgress Gets how many of all bytes are done; on any thread, one at a time.
STEPTAPE_EXPORT SentDirectory
sendDirectory(const std::string& directory, const BucketUrl& url,
              std::chrono::milliseconds patience = std::chrono::milliseconds::max(),
              const std::function<void(std::uint64_t done, std::uint64_t all)>& onProgress = {});

}  // namespace steptape::detail::storage
