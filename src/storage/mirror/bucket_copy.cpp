// SPDX-License-Identifier: Apache-2.0
#include "storage/mirror/bucket_copy.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "base/crc32c.h"
#include "base/file_descriptor.h"
#include "base/got_expected.h"
#include "base/mutex.h"
#include "base/replacement_file.h"
#include "base/text.h"
#include "base/whole_file.h"
#include "storage/mirror/file_bytes.h"
#include "storage/mirror/local_files.h"
#include "storage/mirror/object_writer.h"
#include "storage/mirror/parallel.h"
#include "storage/s3/aws_settings.h"
#include "storage/s3/bucket.h"

namespace steptape::detail::storage {
namespace {

constexpr std::size_t kThreads = 8;
// Of what is kept in memory until it is known to continue a file.
constexpr std::uint64_t kMostKept = std::uint64_t{8} << 20;

/// Whether the path below a prefix is one below a directory: keys may be anything, "../x" too.
bool isSafe(const std::string& path) {
  constexpr std::size_t kMostName = 255;
  std::string_view rest = path;
  while (true) {
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    const std::string_view name = rest.substr(0, slash);
    if (name.empty() || name == "." || name == ".." || name.size() > kMostName ||
        name.find('\0') != std::string_view::npos) {
      return false;
    }
    if (slash == rest.size()) {
      return true;
    }
    rest.remove_prefix(slash + 1);
  }
}

/// Whether a path has a name that begins with a dot. A mirror sends none, and those of a strange
/// bucket may mean something to programs, such as ".git/hooks/post-commit".
bool isHidden(std::string_view path) {
  return base::startsWith(path, ".") || base::contains(path, "/.");
}

std::string_view nameOf(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

Status ioError(const std::string& path) {
  return {ErrorCode::kIoError, path + ": " + std::generic_category().message(errno)};
}

/// Appends to a file as bytes come, and adds up their checksum.
class Appender {
 public:
  /// @param bytes What the file has. @param crc The checksum of that.
  Appender(const std::string& path, std::uint64_t bytes, base::Crc32c crc)
      : path_(path),
        file_(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW)),
        before_(bytes),
        bytes_(bytes),
        crc_(crc) {
    if (!file_.isOpen() && errno == ENOENT) {
      file_ = base::FileDescriptor(
          ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666));
      isMade_ = file_.isOpen();
    }
  }

  bool isOpen() const { return file_.isOpen(); }
  bool add(std::string_view piece) {
    while (!piece.empty()) {
      const ssize_t written =
          ::pwrite(file_.number(), piece.data(), piece.size(), static_cast<off_t>(bytes_));
      if (written < 0 && errno == EINTR) {
        continue;
      }
      if (written <= 0) {
        error_ = errno;
        return false;
      }
      const auto count = static_cast<std::size_t>(written);
      crc_ = base::extend(crc_, piece.substr(0, count));
      bytes_ += count;
      piece.remove_prefix(count);
    }
    return true;
  }
  /// Makes the file what it was: a file that this object has made disappears.
  void cutBack() {
    static_cast<void>(isMade_ ? ::unlink(path_.c_str())
                              : ::ftruncate(file_.number(), static_cast<off_t>(before_)));
    bytes_ = before_;
  }
  std::uint64_t bytes() const { return bytes_; }
  base::Crc32c crc() const { return crc_; }
  int error() const { return error_; }

 private:
  const std::string path_;
  base::FileDescriptor file_;
  bool isMade_ = false;
  const std::uint64_t before_;
  std::uint64_t bytes_;
  base::Crc32c crc_;
  int error_ = 0;
};

}  // namespace

/// What the file of an object holds.
struct BucketCopy::Local {
  std::uint64_t bytes = 0;
  base::Crc32c crc;
  std::string etag;    // of the object that it equals; empty: not known
  bool isOurs = true;  // written by this copy, so that it may be replaced
  bool isLooked = false;
  bool isRead = false;  // in this update; what was there before may turn out to be the same
};

struct BucketCopy::State {
  State(BucketUrl parsed, Options given)
      : url(std::move(parsed)),
        options(std::move(given)),
        settings(AwsSettings::fromEnvironment()) {
    if (!options.wants) {
      options.wants = isMirrored;
    }
  }

  Bucket& bucketOf(std::size_t thread);
  Status bring(Bucket& bucket, const ObjectInfo& object, Local* local);
  Status look(const std::string& path, Local* local) const;
  Status extend(Bucket& bucket, const ObjectInfo& object, Local* local, bool* isOther);
  Status replace(Bucket& bucket, const ObjectInfo& object, Local* local);
  Status differs(const ObjectInfo& object) const;
  void note(std::size_t bytes);

  const BucketUrl url;
  Options options;
  const AwsSettings settings;
  std::vector<std::unique_ptr<Bucket>> buckets = std::vector<std::unique_ptr<Bucket>>(kThreads);
  std::map<std::string, Local> locals;
  std::atomic<std::uint64_t> bytesRead{0};
  base::Mutex mutex;
};

BucketCopy::BucketCopy(BucketUrl url, Options options)
    : state_(std::make_unique<State>(std::move(url), std::move(options))) {}

BucketCopy::~BucketCopy() = default;

/// A thread only ever asks for its own.
Bucket& BucketCopy::State::bucketOf(std::size_t thread) {
  std::unique_ptr<Bucket>& bucket = buckets[thread];
  if (bucket == nullptr) {
    bucket = std::make_unique<Bucket>(url, settings, Bucket::Options());
  }
  return *bucket;
}

BucketCopy::Update BucketCopy::update() {
  State& state = *state_;
  Update update;
  std::vector<std::pair<ObjectInfo, Local*>> changed;
  const StorageResult listed = state.bucketOf(0).list([&](ObjectInfo object) {
    if (!state.options.wants(nameOf(object.path)) || object.path.back() == '/') {
      return;
    }
    ++update.objects;
    if (!isSafe(object.path)) {
      update.problems.emplace_back(
          ErrorCode::kInvalidArgument,
          base::gotExpected("the key " + base::quoted(state.url.keyOf(object.path)),
                            "one that can be the name of a file; it is left out"));
      return;
    }
    if (isHidden(object.path)) {
      --update.objects;
      return;
    }
    Local& local = state.locals[object.path];
    if (local.etag.empty() || local.etag != object.etag) {
      changed.emplace_back(std::move(object), &local);
    }
  });
  if (!listed.isDone()) {
    update.problems.push_back(listed.status);
    return update;
  }
  state.bytesRead = 0;
  inParallel(kThreads, changed.size(), [&](std::size_t thread, std::size_t item) {
    const auto& [object, local] = changed[item];
    local->isRead = false;
    Status status = state.bring(state.bucketOf(thread), object, local);
    const base::MutexLock lock(state.mutex);
    update.read += local->isRead && status.ok() ? 1 : 0;
    if (!status.ok()) {
      update.problems.push_back(std::move(status));
    }
  });
  update.bytes = state.bytesRead;
  return update;
}

/// Makes the file what the object is.
Status BucketCopy::State::bring(Bucket& bucket, const ObjectInfo& object, Local* local) {
  if (Status looked = look(options.directory + '/' + object.path, local); !looked.ok()) {
    return looked;
  }
  bool isOther = local->bytes > object.bytes;
  if (!isOther) {
    Status extended = extend(bucket, object, local, &isOther);
    if (!extended.ok() || !isOther) {
      return extended;
    }
  }
  return local->isOurs ? replace(bucket, object, local) : differs(object);
}

/// Finds out what of a file is there already, unless it is as this copy has left it.
Status BucketCopy::State::look(const std::string& path, Local* local) const {
  struct stat status {};
  const bool isThere = ::lstat(path.c_str(), &status) == 0;
  const auto bytes = static_cast<std::uint64_t>(isThere ? status.st_size : 0);
  if (local->isLooked && isThere && S_ISREG(status.st_mode) && bytes == local->bytes) {
    return {};
  }
  *local = Local();
  local->isLooked = true;
  if (!isThere) {
    local->isRead = true;
    return base::createDirectoriesOf(path);
  }
  const base::FileDescriptor file = openToRead(path);
  const std::optional<base::Crc32c> crc =
      file.isOpen() ? checksumOf(file, bytes) : std::optional<base::Crc32c>();
  if (!crc) {
    local->isLooked = false;
    return S_ISREG(status.st_mode) ? ioError(path)
                                   : Status(ErrorCode::kFailedPrecondition,
                                            path + ": " +
                                                base::gotExpected("a directory, a link or the like",
                                                                  "a regular file, or none"));
  }
  local->bytes = bytes;
  local->crc = *crc;
  local->isOurs = false;
  return {};
}

/// Reads what an object has beyond the file.
///
/// @param isOther Receives whether the file is not the start of the object; it is then unchanged.
Status BucketCopy::State::extend(Bucket& bucket, const ObjectInfo& object, Local* local,
                                 bool* isOther) {
  const std::string path = options.directory + '/' + object.path;
  Appender file(path, local->bytes, local->crc);
  if (!file.isOpen()) {
    return ioError(path);
  }
  // Without a checksum nothing tells whether a file that was there before is the object's start.
  ObjectHead head;
  const bool hasAll = local->bytes == object.bytes;
  StorageResult result =
      hasAll || !local->isOurs ? bucket.head(object.path, &head) : StorageResult();
  const bool mustCompare =
      !local->isOurs && (head.metadata.count(kChecksumName) == 0 ||
                         object.bytes - std::min(local->bytes, object.bytes) > kMostKept);
  std::string kept;  // of an object of which the file may not be the start
  if (result.isDone() && hasAll && local->isOurs && local->bytes > 0 &&
      head.metadata.count(kChecksumName) == 0) {
    *isOther = true;  // as long as before, but another one
    return {};
  }
  if (result.isDone() && mustCompare) {
    const base::FileDescriptor own = openToRead(path);
    std::uint64_t compared = 0;
    result = bucket.get(
        object.path, 0, object.etag,
        [&](std::string_view piece) {
          const std::string_view known = piece.substr(
              0, static_cast<std::size_t>(local->bytes - std::min(local->bytes, compared)));
          *isOther = *isOther || !hasBytes(own, compared, known);
          compared += piece.size();
          note(piece.size());
          local->isRead = local->isRead || known.size() < piece.size();
          return !*isOther && file.add(piece.substr(known.size()));
        },
        &head);
    if (*isOther) {
      return {};
    }
  } else if (result.isDone() && !hasAll) {
    result = bucket.get(
        object.path, local->bytes, object.etag,
        [&](std::string_view piece) {
          note(piece.size());
          local->isRead = true;
          if (local->isOurs) {
            return file.add(piece);
          }
          kept += piece;
          return kept.size() <= kMostKept;
        },
        &head);
    if (result.isDone() && !kept.empty()) {
      const auto checksum = head.metadata.find(kChecksumName);
      *isOther = checksum == head.metadata.end() ||
                 checksum->second != base::extend(local->crc, kept).toString();
      if (*isOther) {
        return {};
      }
      file.add(kept);
    }
  }
  if (file.error() != 0) {
    file.cutBack();
    errno = file.error();
    return ioError(path);
  }
  using Outcome = StorageResult::Outcome;
  if (result.outcome == Outcome::kChanged || result.outcome == Outcome::kMissing) {
    file.cutBack();
    return {};  // the next update sees what it is now
  }
  const auto checksum = head.metadata.find(kChecksumName);
  if (result.isDone() && checksum != head.metadata.end() &&
      checksum->second != file.crc().toString()) {
    file.cutBack();
    *isOther = true;
    return {};
  }
  // What has come of a transfer that broke off is the start of the object all the same, if what
  // was there before is. Nothing of it is no file.
  if (result.isDone() || (local->isOurs && file.bytes() > 0)) {
    local->bytes = file.bytes();
    local->crc = file.crc();
  } else {
    file.cutBack();
  }
  if (result.isDone()) {
    local->etag = head.etag.empty() ? object.etag : head.etag;
    local->isOurs = true;
  }
  return result.status;
}

/// Reads an object that another one was before.
Status BucketCopy::State::replace(Bucket& bucket, const ObjectInfo& object, Local* local) {
  const std::string path = options.directory + '/' + object.path;
  base::ReplacementFile file(path);
  if (Status opened = file.open(); !opened.ok()) {
    return opened;
  }
  Local read;
  read.isLooked = true;
  ObjectHead head;
  const StorageResult result = bucket.get(
      object.path, 0, object.etag,
      [&](std::string_view piece) {
        note(piece.size());
        file.write(piece);
        read.crc = base::extend(read.crc, piece);
        read.bytes += piece.size();
        return file.status().ok();
      },
      &head);
  if (!file.status().ok()) {
    return file.status();
  }
  using Outcome = StorageResult::Outcome;
  if (result.outcome == Outcome::kChanged || result.outcome == Outcome::kMissing) {
    return {};
  }
  if (!result.isDone()) {
    return result.status;
  }
  const auto checksum = head.metadata.find(kChecksumName);
  if (checksum != head.metadata.end() && checksum->second != read.crc.toString()) {
    return {ErrorCode::kIoError,
            url.urlOf(object.path) + ": " +
                base::gotExpected("bytes with the checksum " + read.crc.toString(),
                                  checksum->second + ", which its metadata says")};
  }
  if (Status finished = file.finish(); !finished.ok()) {
    return finished;
  }
  read.etag = head.etag.empty() ? object.etag : head.etag;
  Status appeared = file.appear(/*overwrite=*/true);
  if (appeared.ok()) {
    *local = read;
    local->isRead = true;
  }
  return appeared;
}

Status BucketCopy::State::differs(const ObjectInfo& object) const {
  return {ErrorCode::kFailedPrecondition,
          options.directory + '/' + object.path + " is not replaced by " + url.urlOf(object.path) +
              ": " +
              base::gotExpected("a file with other bytes", "none, or the start of the object")};
}

void BucketCopy::State::note(std::size_t bytes) {
  bytesRead += bytes;
  if (options.onProgress) {
    const base::MutexLock lock(mutex);
    options.onProgress(bytes);
  }
}

}  // namespace steptape::detail::storage
