// SPDX-License-Identifier: Apache-2.0
#include "log/writer/left_file.h"

#include <cinttypes>
#include <cstdio>
#include <fcntl.h>
#include <limits>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <variant>
#include <vector>

#include "steptape/events/record_reader.h"

#include "events/messages/event_codec.h"
#include "events/messages/scalar_event_view.h"
#include "log/writer/file_head.h"
#include "log/writer/file_system.h"

namespace steptape::detail::log {

std::uint64_t valuesIn(std::string_view payload) {
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

LeftFile::LeftFile(std::string path)
    : path_(std::move(path)),
      file_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)),
      error_(file_.isOpen() ? 0 : errno) {
  struct stat status {};
  if (file_.isOpen() && ::fstat(file_.number(), &status) == 0 && S_ISREG(status.st_mode)) {
    size_ = static_cast<std::uint64_t>(status.st_size);
  }
}

bool LeftFile::endsWithin(std::uint64_t offset, std::string_view bytes) const {
  std::string there;
  return read(offset, bytes.size(), &there) && bytes.substr(0, there.size()) == there;
}

bool LeftFile::wholeRecords(std::uint64_t offset, std::size_t most, WholeRecords* records) const {
  std::string there;
  if (!read(offset, most, &there)) {
    return false;
  }
  const MemoryByteSource source(std::move(there), path_);
  RecordReader reader(&source);
  std::string_view payload;
  ReadOutcome outcome = reader.next(&payload);
  while (outcome == ReadOutcome::kRecord) {
    records->values += valuesIn(payload);
    records->bytes = reader.offset();
    outcome = reader.next(&payload);
  }
  return outcome == ReadOutcome::kTruncated;
}

/// Reads at most `most` bytes from `offset` on.
bool LeftFile::read(std::uint64_t offset, std::size_t most, std::string* bytes) const {
  if (size_ < offset) {
    return false;
  }
  bytes->resize(std::min<std::uint64_t>(size_ - offset, most));
  const ssize_t got =
      ::pread(file_.number(), bytes->data(), bytes->size(), static_cast<off_t>(offset));
  return got == static_cast<ssize_t>(bytes->size());
}

ArrivedWrite continueAfter(const AnnouncedWrite& write, const LeftFile& file,
                           DeadProcess::Stream* stream) {
  ArrivedWrite arrived;
  arrived.missing = write.scalars;
  if (stream->file != write.file) {
    stream->file = write.file;
    stream->offset = write.offset;
    stream->bytes.clear();
  }
  LeftFile::WholeRecords there;
  if (file.error() != 0 || !file.wholeRecords(write.offset, write.bytes, &there)) {
    return arrived;  // whoever looks at the stream's bytes finds out what is there instead
  }
  arrived.end = write.offset + there.bytes;
  if (there.bytes > 0) {
    arrived.missing -= std::min(arrived.missing, there.values);
    stream->offset = *arrived.end;
    stream->bytes.clear();
  }
  return arrived;
}

int findFiles(const process::BoxHeader& box, const std::string& directory,
              const NamedStream& stream, FilesOfProcess* files) {
  constexpr std::string_view kFilePrefix = "events.out.tfevents.";
  constexpr std::size_t kDigits = 10;
  const std::string ofProcess =
      "." + process::BoxHeader::textOf(box.host) + "." + std::to_string(box.pid) + ".";
  char digits[24];
  std::snprintf(digits, sizeof(digits), "%010" PRIu64,
                static_cast<std::uint64_t>(std::max(box.created, 0.0)));
  std::string seconds(digits);
  std::snprintf(digits, sizeof(digits), "99999%05" PRIu32, stream.id);
  std::vector<std::string> names;
  const int error = FileSystem::current().list(directory, &names);
  *files = {};
  for (const std::string& known : names) {
    if (known.size() > kFilePrefix.size() + kDigits &&
        known.compare(0, kFilePrefix.size(), kFilePrefix) == 0 &&
        known.compare(kFilePrefix.size() + kDigits, ofProcess.size(), ofProcess) == 0) {
      seconds = std::max(seconds, known.substr(kFilePrefix.size(), kDigits));
      files->last = std::max(files->last, known);
    }
  }
  files->next = std::string(kFilePrefix) + seconds + ofProcess + digits + stream.fileSuffix;
  return error == ENOENT ? 0 : error;  // the directory of a new sub-run
}

std::string headOfNewFile(const process::BoxHeader& box, const NamedStream& stream) {
  return fileHead(box.created, stream.purgeFrom.value_or(std::numeric_limits<std::int64_t>::max()));
}

}  // namespace steptape::detail::log
