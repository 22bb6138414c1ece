// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/base/status.h"

#include "storage/s3/bucket_url.h"

namespace steptape::detail::storage {

/// Keeps a directory as a bucket is: files that readers follow as if they were written there.
///
/// An object that has grown is read from the end of the file on. If the file is not the start of
/// the object, as its checksum tells, or if the object has become smaller, the file is replaced.
/// Objects that are deleted stay as files.
///
/// @threads Not thread-safe: one thread at a time. Works on several threads of its own.
class STEPTAPE_EXPORT BucketCopy {
 public:
  struct Options {
    std::string directory;
    /// Which objects are wanted, by their names behind the last slash. Empty: those that
    /// isMirrored().
    std::function<bool(std::string_view name)> wants;
    /// Gets the bytes that were read since the last call; on any thread, one at a time.
    std::function<void(std::uint64_t bytes)> onProgress;
  };
  struct Update {
    std::uint64_t objects = 0;  ///< All that are wanted.
    std::uint64_t read = 0;     ///< Of these, those that were new or had changed.
    std::uint64_t bytes = 0;    ///< That were read.
    /// What went wrong with single objects, or with all. Later updates try again.
    std::vector<Status> problems;
  };

  BucketCopy(BucketUrl url, Options options);
  BucketCopy(const BucketCopy&) = delete;
  BucketCopy& operator=(const BucketCopy&) = delete;
  ~BucketCopy();

  /// Reads what is new: one listing, and a request for each object that has changed.
  Update update();

 private:
  struct Local;
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace steptape::detail::storage
