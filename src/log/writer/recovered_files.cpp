// SPDX-License-Identifier: Apache-2.0
#include "log/writer/recovered_files.h"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <fcntl.h>
#include <limits>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <variant>
#include <vector>

#include "steptape/events/record_reader.h"

#include "base/got_expected.h"
#include "base/little_endian.h"
#include "events/framing/record_format.h"
#include "events/messages/event_codec.h"
#include "events/messages/scalar_event_view.h"
#include "log/writer/file_head.h"
#include "log/writer/file_system.h"
#include "process/blackbox/box_file.h"

namespace steptape::detail::log {
namespace {

/// Returns the number of values in an event.
std::uint64_t valuesOf(std::string_view payload) {
  events::ScalarEventView scalars(payload);
  events::ScalarView scalar;
  std::uint64_t values = 0;
  while (scalars.next(&scalar)) {
    ++values;
  }
  if (scalars.isWhole()) {
    return values;
  }
  event::Event event;
  if (!events::decodeEvent(payload, &event).ok()) {
    return 0;
  }
  const auto* const summary = std::get_if<event::Summary>(&event.what);
  return summary != nullptr ? summary->values.size() : 0;
}

/// Returns the number of values in records that do not end within the first `known` bytes.
std::uint64_t valuesAfter(std::string_view records, std::size_t known) {
  std::uint64_t values = 0;
  std::size_t at = 0;
  while (records.size() - at >= events::kFramingBytes) {
    const std::uint64_t length = base::loadLittleEndian64(records.data() + at);
    if (length > records.size() - at - events::kFramingBytes) {
      break;
    }
    const std::string_view payload = records.substr(at + events::kHeaderBytes, length);
    at += events::kFramingBytes + length;
    values += at > known ? valuesOf(payload) : 0;
  }
  return values;
}

/// Records at the end of a file.
struct WholeRecords {
  std::uint64_t bytes = 0;
  std::uint64_t values = 0;
};

/// An event file that a dead process has left.
class LeftFile {
 public:
  explicit LeftFile(std::string path)
      : path_(std::move(path)),
        descriptor_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)),
        error_(descriptor_ < 0 ? errno : 0) {
    struct stat status {};
    if (descriptor_ >= 0 && ::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode)) {
      size_ = static_cast<std::uint64_t>(status.st_size);
    }
  }
  ~LeftFile() {
    if (descriptor_ >= 0) {
      ::close(descriptor_);
    }
  }
  LeftFile(const LeftFile&) = delete;
  LeftFile& operator=(const LeftFile&) = delete;

  int error() const { return error_; }
  bool isMissing() const { return error_ == ENOENT || error_ == ENOTDIR; }
  std::uint64_t size() const { return size_; }

  /// Returns whether the file holds the first bytes of `bytes` from `offset` to its end.
  bool endsWithin(std::uint64_t offset, std::string_view bytes) const {
    std::string there;
    return read(offset, bytes.size(), &there) && bytes.substr(0, there.size()) == there;
  }

  /// Takes the whole records from `offset` on, within the next `most` bytes.
  /// @return false if something else is there.
  bool wholeRecords(std::uint64_t offset, std::size_t most, WholeRecords* records) const {
    std::string there;
    if (!read(offset, most, &there)) {
      return false;
    }
    const MemoryByteSource source(std::move(there), path_);
    RecordReader reader(&source);
    std::string_view payload;
    ReadOutcome outcome = reader.next(&payload);
    while (outcome == ReadOutcome::kRecord) {
      records->values += valuesOf(payload);
      records->bytes = reader.offset();
      outcome = reader.next(&payload);
    }
    return outcome == ReadOutcome::kTruncated;
  }

 private:
  /// Reads at most `most` bytes from `offset` on.
  bool read(std::uint64_t offset, std::size_t most, std::string* bytes) const {
    if (size_ < offset) {
      return false;
    }
    bytes->resize(std::min<std::uint64_t>(size_ - offset, most));
    const ssize_t got =
        ::pread(descriptor_, bytes->data(), bytes->size(), static_cast<off_t>(offset));
    return got == static_cast<ssize_t>(bytes->size());
  }

  const std::string path_;
  const int descriptor_;
  const int error_;
  std::uint64_t size_ = 0;
};

/// Ends a file after its first `bytes`.
/// @return 0 or an errno.
int cut(const std::string& path, std::uint64_t bytes) {
  FileSystem& files = FileSystem::current();
  int descriptor = -1;
  int error = files.openToAppend(path, &descriptor);
  if (error == 0) {
    error = files.truncate(descriptor, bytes);
    files.close(descriptor);
  }
  return error;
}

/// Writes all of `bytes` to an open file.
/// @return 0 or an errno.
int writeAll(int descriptor, std::string_view bytes) {
  FileSystem& files = FileSystem::current();
  while (!bytes.empty()) {
    std::size_t written = 0;
    if (const int error = files.write(descriptor, bytes, &written)) {
      return error;
    }
    if (written == 0) {
      return EIO;
    }
    bytes.remove_prefix(written);
  }
  return 0;
}

}  // namespace

bool RecoveredFiles::settle(const std::string& directory, const AnnouncedWrite& write,
                            DeadProcess::Stream* stream, std::uint64_t* missing) {
  *missing = write.scalars;
  if (stream->file != write.file) {
    stream->file = write.file;
    stream->offset = write.offset;
    stream->bytes.clear();
  }
  const std::string path = directory + "/" + write.file;
  const LeftFile file(path);
  if (file.error() != 0 && !file.isMissing()) {
    report_.keep(process::boxError("open", path, file.error()).message());
    return false;
  }
  WholeRecords there;
  if (file.isMissing() || !file.wholeRecords(write.offset, write.bytes, &there)) {
    return true;  // bring() finds out what is there instead
  }
  const std::uint64_t end = write.offset + there.bytes;
  if (there.bytes < write.bytes && file.size() > end) {
    if (const int error = cut(path, end)) {
      report_.keep(process::boxError("remove a part of a record from", path, error).message());
      return false;
    }
  }
  if (there.bytes > 0) {
    *missing -= std::min(*missing, there.values);
    stream->offset = end;
    stream->bytes.clear();
  }
  return true;
}

void RecoveredFiles::bring(const std::string& directory, const DeadProcess::Stream& stream) {
  if (stream.file.empty()) {
    writeNewFile(directory, stream);
    return;
  }
  const std::string path = directory + "/" + stream.file;
  const LeftFile file(path);
  if (file.isMissing()) {
    report_.problems.push_back(path + " was deleted; its last " +
                               std::to_string(valuesAfter(stream.bytes, 0)) +
                               " values are dropped");
  } else if (file.error() != 0) {
    report_.keep(process::boxError("open", path, file.error()).message());
  } else if (!file.endsWithin(stream.offset, stream.bytes)) {
    report_.problems.push_back(path + ": " +
                               base::gotExpected("other bytes than its writer left", "these") +
                               "; its last values are in a file of their own");
    writeNewFile(directory, stream);
  } else if (file.size() - stream.offset < stream.bytes.size()) {
    append(path, file.size(), stream);
  }
}

void RecoveredFiles::append(const std::string& path, std::uint64_t size,
                            const DeadProcess::Stream& stream) {
  const std::size_t known = size - stream.offset;
  FileSystem& files = FileSystem::current();
  int descriptor = -1;
  int error = files.openToAppend(path, &descriptor);
  if (error == 0) {
    error = writeAll(descriptor, std::string_view(stream.bytes).substr(known));
    if (error != 0) {
      files.truncate(descriptor, size);  // if it fails, the next recovery goes on from there
    }
    files.close(descriptor);
  }
  finish(error, path, valuesAfter(stream.bytes, known));
}

/// Names a stream's new file: after those of the dead process, and before those of later ones.
/// The name is always the same, so that a second recovery finds what the first one has written.
///
/// @return 0 or an errno.
int RecoveredFiles::nameNewFile(const std::string& directory, const NamedStream& stream,
                                std::string* path) {
  constexpr std::string_view kFilePrefix = "events.out.tfevents.";
  constexpr std::size_t kDigits = 10;
  const std::string ofProcess = "." + process::BoxHeader::textOf(box_.header().host) + "." +
                                std::to_string(box_.header().pid) + ".";
  char digits[24];
  std::snprintf(digits, sizeof(digits), "%010" PRIu64,
                static_cast<std::uint64_t>(std::max(box_.header().created, 0.0)));
  std::string seconds(digits);
  std::vector<std::string> names;
  const int error = FileSystem::current().list(directory, &names);
  for (const std::string& name : names) {
    if (name.size() > kFilePrefix.size() + kDigits &&
        name.compare(0, kFilePrefix.size(), kFilePrefix) == 0 &&
        name.compare(kFilePrefix.size() + kDigits, ofProcess.size(), ofProcess) == 0) {
      seconds = std::max(seconds, name.substr(kFilePrefix.size(), kDigits));
    }
  }
  std::snprintf(digits, sizeof(digits), "99999%05" PRIu32, stream.id);
  *path =
      directory + "/" + std::string(kFilePrefix) + seconds + ofProcess + digits + stream.fileSuffix;
  return error == ENOENT ? 0 : error;  // the directory of a new sub-run
}

void RecoveredFiles::writeNewFile(const std::string& directory, const DeadProcess::Stream& stream) {
  const process::BoxHeader& header = box_.header();
  std::string path;
  if (const int error = nameNewFile(directory, stream.named, &path)) {
    report_.keep(process::boxError("read", directory, error).message());
    return;
  }
  if (LeftFile(path).error() == 0) {
    return;  // an earlier recovery was killed after this
  }
  FileSystem& files = FileSystem::current();
  const std::string unfinished = box_.name().pathOf("recovery");
  const std::string temporary = directory + "/" + unfinished.substr(unfinished.rfind('/') + 1) +
                                "-" + std::to_string(stream.named.id);
  int descriptor = -1;
  int error = files.createDirectories(directory);
  if (error == 0) {
    static_cast<void>(files.remove(temporary));
    error = files.createExclusive(temporary, &descriptor);
  }
  if (error == 0) {
    const std::int64_t purgeFrom =
        stream.named.purgeFrom.value_or(std::numeric_limits<std::int64_t>::max());
    error = writeAll(descriptor, fileHead(header.created, purgeFrom) + stream.bytes);
    files.close(descriptor);
    if (error == 0) {
      error = files.rename(temporary, path);
    }
    if (error != 0) {
      static_cast<void>(files.remove(temporary));
    }
  }
  finish(error, path, valuesAfter(stream.bytes, 0));
}

void RecoveredFiles::finish(int error, const std::string& path, std::uint64_t values) {
  if (error != 0) {
    report_.keep("cannot write to " + path + ": " + std::generic_category().message(error));
    return;
  }
  report_.values += values;
  report_.files.push_back(path);
}

}  // namespace steptape::detail::log
