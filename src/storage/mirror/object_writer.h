// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "steptape/base/status.h"

#include "base/file_descriptor.h"
#include "storage/mirror/local_files.h"
#include "storage/s3/bucket.h"

namespace steptape::detail::storage {

/// The name of the metadata of an object with the CRC-32C of its bytes, as Crc32c::toString().
inline constexpr const char* kChecksumName = "steptape-crc32c";

/// Brings the files of a directory to a bucket, one object each.
///
/// No object of another origin is ever replaced. One that exists is replaced only if it carries the
/// mark of this directory, or if the file begins with all of its bytes, as an event file does that
/// has grown. Conditions in the request keep that true if somebody else writes at the same moment,
/// on servers that know them.
///
/// @threads Not thread-safe: one thread at a time.
class ObjectWriter {
 public:
  struct Result {
    enum class Outcome {
      kUpToDate,  ///< The object has the file's bytes; nothing was sent.
      kSent,
      kTaken,  ///< There is an object of another origin.
      kGone,   ///< The file is not there any more.
      kUnreadable,
      kFailed,   ///< It may pass, as StorageResult says.
      kRefused,  ///< By the server.
    };
    Outcome outcome;
    std::uint64_t bytesSent = 0;
    Status status = {};  ///< Says what is wrong, for the last five.
  };

  /// @param bucket Outlives this object.
  /// @param mark   Of the directory: see DirectoryMark; empty: objects are replaced only if the
  ///               file continues them.
  ObjectWriter(std::string directory, std::string mark, Bucket* bucket);

  /// Makes the object what the file is now.
  Result bring(const LocalFile& file);

  /// Returns how many bytes of the file the bucket has, as far as this object knows; nothing if it
  /// knows of no object.
  std::optional<std::uint64_t> bytesThere(const std::string& path) const;

 private:
  struct Known {
    std::uint64_t bytes = 0;
    std::int64_t changed = 0;
    std::string etag;  // empty: the object is not known
    Status taken;      // why the file may not replace the object
  };

  Result tryToBring(const LocalFile& file, const base::FileDescriptor& source, Known* known);
  StorageResult mayReplace(const std::string& path, const base::FileDescriptor& source,
                           std::uint64_t bytes, const ObjectHead& head, bool* may);

  const std::string directory_;
  const std::string mark_;
  Bucket& bucket_;
  std::map<std::string, Known> known_;
};

}  // namespace steptape::detail::storage
