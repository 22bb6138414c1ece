// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "steptape/base/status.h"
#include "steptape/train/safetensors.h"

#include "base/file_kind.h"
#include "base/got_expected.h"
#include "base/little_endian.h"
#include "base/text.h"
#include "train/safetensors/header_reader.h"
#include "train/safetensors/tensor_layout.h"

namespace steptape {
namespace {

using detail::base::gotExpected;
using detail::train::kSafetensorsLengthBytes;

[[noreturn]] void failAsUnreadable(const std::string& path, const std::string& reason) {
  throw Error(ErrorCode::kIoError, "cannot read " + path + ": " + reason);
}

std::string systemMessage() {
  return std::generic_category().message(errno);
}

int openToRead(const std::string& path) {
  // Without O_NONBLOCK a FIFO would keep open() waiting for its writer.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    failAsUnreadable(path, systemMessage());
  }
  return descriptor;
}

std::uint64_t sizeOfFile(int descriptor, const std::string& path) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) {
    failAsUnreadable(path, systemMessage());
  }
  if (std::string problem = detail::base::fileKindProblem(status.st_mode); !problem.empty()) {
    failAsUnreadable(path, problem);
  }
  return static_cast<std::uint64_t>(status.st_size);
}

void readBytes(int descriptor, const std::string& path, std::uint64_t offset, char* out,
               std::uint64_t size) {
  const std::uint64_t end = offset + size;
  while (offset < end) {
    const ssize_t count = ::pread(descriptor, out, end - offset, static_cast<off_t>(offset));
    if (count == 0) {
      detail::train::failAsDamaged(
          path,
          "the file has shrunk: " + gotExpected("its end at byte " + std::to_string(offset),
                                                "at least " + std::to_string(end) + " bytes"));
    }
    if (count < 0 && errno != EINTR) {
      failAsUnreadable(path, systemMessage() + " at byte " + std::to_string(offset));
    }
    offset += std::max<ssize_t>(count, 0);
    out += std::max<ssize_t>(count, 0);
  }
}

/// Returns the length of the header, which lies in the file.
std::uint64_t headerBytes(int descriptor, const std::string& path, std::uint64_t fileBytes) {
  if (fileBytes < kSafetensorsLengthBytes) {
    detail::train::failAsDamaged(
        path, gotExpected("a file of " + detail::base::counted(fileBytes, "byte"),
                          "the length of a header in 8 bytes"));
  }
  std::array<char, kSafetensorsLengthBytes> length;
  readBytes(descriptor, path, 0, length.data(), length.size());
  const std::uint64_t bytes = detail::base::loadLittleEndian64(length.data());
  const std::uint64_t most =
      std::min(detail::train::kMaxSafetensorsHeaderBytes, fileBytes - kSafetensorsLengthBytes);
  if (bytes > most) {
    detail::train::failAsDamaged(
        path, gotExpected("a header of " + std::to_string(bytes) + " bytes",
                          "at most " + std::to_string(most) + " in a file of " +
                              std::to_string(fileBytes) +
                              ": the file is truncated, or no safetensors file"));
  }
  return bytes;
}

}  // namespace

SafetensorsFile::SafetensorsFile(const std::string& path)
    : SafetensorsFile(path, openToRead(path)) {
  const std::uint64_t fileBytes = sizeOfFile(descriptor_, path_);
  std::string json(headerBytes(descriptor_, path_, fileBytes), '\0');
  readBytes(descriptor_, path_, kSafetensorsLengthBytes, json.data(), json.size());
  detail::train::SafetensorsHeader header = detail::train::readSafetensorsHeader(json, path_);
  const std::uint64_t dataBegin = kSafetensorsLengthBytes + json.size();
  const std::string problem =
      detail::train::arrangeEntries(std::move(header.tensors), fileBytes - dataBegin, &entries_);
  if (!problem.empty()) {
    detail::train::failAsDamaged(path_, problem);
  }
  for (Entry& entry : entries_) {
    entry.offset += dataBegin;
  }
  metadata_ = std::move(header.metadata);
}

SafetensorsFile::SafetensorsFile(std::string path, int descriptor)
    : path_(std::move(path)), descriptor_(descriptor) {}

SafetensorsFile::~SafetensorsFile() {
  ::close(descriptor_);
}

void SafetensorsFile::read(const Entry& entry, void* data) const {
  readBytes(descriptor_, path_, entry.offset, static_cast<char*>(data), entry.bytes);
}

}  // namespace steptape
