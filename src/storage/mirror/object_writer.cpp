// SPDX-License-Identifier: Apache-2.0
#include "storage/mirror/object_writer.h"

#include <cerrno>
#include <cstddef>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <utility>

#include "base/got_expected.h"
#include "storage/mirror/file_bytes.h"

namespace steptape::detail::storage {
namespace {

using Outcome = ObjectWriter::Result::Outcome;

constexpr const char* kMarkName = "steptape-mirror";

/// @return the checksum of the first `bytes` as text; empty if they cannot be read.
std::string checksumText(const base::FileDescriptor& file, std::uint64_t bytes) {
  const std::optional<base::Crc32c> checksum = checksumOf(file, bytes);
  return checksum ? checksum->toString() : std::string();
}

Outcome outcomeOf(const StorageResult& result) {
  return result.outcome == StorageResult::Outcome::kRefused ? Outcome::kRefused : Outcome::kFailed;
}

std::string metadataOf(const ObjectHead& head, const char* name) {
  const auto found = head.metadata.find(name);
  return found == head.metadata.end() ? std::string() : found->second;
}

}  // namespace

ObjectWriter::ObjectWriter(std::string directory, std::string mark, Bucket* bucket)
    : directory_(std::move(directory)), mark_(std::move(mark)), bucket_(*bucket) {}

std::optional<std::uint64_t> ObjectWriter::bytesThere(const std::string& path) const {
  const auto found = known_.find(path);
  return found == known_.end() || found->second.etag.empty() ? std::nullopt
                                                             : std::optional(found->second.bytes);
}

ObjectWriter::Result ObjectWriter::bring(const LocalFile& file) {
  Known& known = known_[file.path];
  const bool isKnown = known.bytes == file.bytes && known.changed == file.changed;
  if (isKnown && !known.taken.ok()) {
    return {Outcome::kTaken, 0, known.taken};
  }
  if (isKnown && !known.etag.empty()) {
    return {Outcome::kUpToDate};
  }
  const std::string path = directory_ + '/' + file.path;
  const base::FileDescriptor source = openToRead(path);
  if (!source.isOpen()) {
    const int error = errno;
    return {error == ENOENT ? Outcome::kGone : Outcome::kUnreadable,
            0,
            {ErrorCode::kIoError, path + ": " + std::generic_category().message(error)}};
  }
  known.taken = {};
  Result result = tryToBring(file, source, &known);
  if (result.outcome == Outcome::kFailed && known.etag.empty()) {
    result = tryToBring(file, source, &known);  // somebody else was there in between
  }
  return result;
}

ObjectWriter::Result ObjectWriter::tryToBring(const LocalFile& file,
                                              const base::FileDescriptor& source, Known* known) {
  ObjectBody body;
  body.bytes = file.bytes;
  body.read = [&source](std::uint64_t offset, char* out, std::size_t most) {
    return readAt(source, offset, out, most);
  };
  const std::string checksum = checksumText(source, file.bytes);
  if (checksum.empty()) {
    struct stat now {};
    const bool isShorter =
        ::fstat(source.number(), &now) == 0 && static_cast<std::uint64_t>(now.st_size) < file.bytes;
    return {isShorter ? Outcome::kGone : Outcome::kUnreadable,
            0,
            {ErrorCode::kIoError,
             directory_ + '/' + file.path +
                 (isShorter ? " became shorter meanwhile" : " cannot be read to its end")}};
  }
  body.metadata[kChecksumName] = checksum;
  if (!mark_.empty()) {
    body.metadata[kMarkName] = mark_;
  }
  if (known->etag.empty()) {
    ObjectHead head;
    StorageResult looked = bucket_.head(file.path, &head);
    if (looked.isDone()) {
      if (head.bytes == file.bytes && metadataOf(head, kChecksumName) == checksum) {
        *known = {file.bytes, file.changed, head.etag, {}};
        return {Outcome::kUpToDate};
      }
      bool may = false;
      looked = mayReplace(file.path, source, file.bytes, head, &may);
      if (looked.isDone() && !may) {
        *known = {file.bytes,
                  file.changed,
                  {},
                  {ErrorCode::kFailedPrecondition,
                   bucket_.url().urlOf(file.path) + " is not replaced by " + directory_ + '/' +
                       file.path + ": " +
                       base::gotExpected("an object of another directory with other bytes",
                                         "none, or the start of this file")}};
        return {Outcome::kTaken, 0, known->taken};
      }
      known->etag = head.etag;
    }
    if (!looked.isDone() && looked.outcome != StorageResult::Outcome::kMissing) {
      return {outcomeOf(looked), 0, std::move(looked.status)};
    }
  }
  std::string etag;
  StorageResult stored = bucket_.put(file.path, body, known->etag, &etag);
  if (!stored.isDone()) {
    if (stored.outcome == StorageResult::Outcome::kChanged ||
        stored.outcome == StorageResult::Outcome::kMissing) {
      known->etag.clear();
    }
    return {outcomeOf(stored), 0, std::move(stored.status)};
  }
  *known = {file.bytes, file.changed, etag, {}};
  return {Outcome::kSent, file.bytes};
}

/// Finds out whether an object that exists may be replaced by the first `bytes` of the file.
StorageResult ObjectWriter::mayReplace(const std::string& path, const base::FileDescriptor& source,
                                       std::uint64_t bytes, const ObjectHead& head, bool* may) {
  *may = !mark_.empty() && metadataOf(head, kMarkName) == mark_;
  if (*may || head.bytes > bytes) {
    return {};
  }
  if (const std::string checksum = metadataOf(head, kChecksumName); !checksum.empty()) {
    *may = checksum == checksumText(source, head.bytes);
    return {};
  }
  // An object of another tool: its bytes are compared.
  std::uint64_t compared = 0;
  bool isEqual = true;
  StorageResult result = bucket_.get(path, 0, head.etag, [&](std::string_view piece) {
    isEqual = isEqual && hasBytes(source, compared, piece);
    compared += piece.size();
    return isEqual;
  });
  *may = isEqual && compared == head.bytes;
  return isEqual ? result : StorageResult();
}

}  // namespace steptape::detail::storage
