// SPDX-License-Identifier: Apache-2.0
#include "log/writer/recovered_files.h"

#include <cerrno>
#include <string_view>
#include <system_error>

#include "base/got_expected.h"
#include "base/little_endian.h"
#include "events/framing/record_format.h"
#include "log/writer/file_system.h"
#include "log/writer/left_file.h"
#include "process/blackbox/box_file.h"

namespace steptape::detail::log {
namespace {

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
    values += at > known ? valuesIn(payload) : 0;
  }
  return values;
}

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
  const std::string path = directory + "/" + write.file;
  const LeftFile file(path);
  if (file.error() != 0 && !file.isMissing()) {
    report_.keep(process::boxError("open", path, file.error()).message());
    return false;
  }
  const ArrivedWrite arrived = continueAfter(write, file, stream);
  if (arrived.end && *arrived.end < write.offset + write.bytes && file.size() > *arrived.end) {
    if (const int error = cut(path, *arrived.end)) {
      report_.keep(process::boxError("remove a part of a record from", path, error).message());
      return false;
    }
  }
  *missing = arrived.missing;
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

void RecoveredFiles::writeNewFile(const std::string& directory, const DeadProcess::Stream& stream) {
  const process::BoxHeader& header = box_.header();
  FilesOfProcess known;
  if (const int error = findFiles(header, directory, stream.named, &known)) {
    report_.keep(process::boxError("read", directory, error).message());
    return;
  }
  const std::string path = directory + "/" + known.next;
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
    error = writeAll(descriptor, headOfNewFile(header, stream.named) + stream.bytes);
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
