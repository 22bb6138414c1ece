// SPDX-License-Identifier: Apache-2.0
#include "base/gzip_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "steptape/base/status.h"

#include "base/got_expected.h"

#include <zlib.h>

namespace steptape::detail::base {
namespace {

constexpr unsigned kBufferBytes = 1 << 17;
/// gzread() takes an unsigned int and returns an int.
constexpr std::size_t kMaxRead = std::size_t{1} << 30;

}  // namespace

GzipFile::GzipFile(std::string path) : path_(std::move(path)), file_(nullptr) {
  errno = 0;
  file_ = gzopen(path_.c_str(), "rb");
  if (file_ == nullptr) {
    throw Error(ErrorCode::kIoError,
                "cannot open " + path_ + ": " + std::strerror(errno != 0 ? errno : ENOMEM));
  }
  gzbuffer(file_, kBufferBytes);
}

GzipFile::~GzipFile() {
  gzclose_r(file_);
}

void GzipFile::readExactly(void* data, std::size_t size) {
  auto* bytes = static_cast<std::uint8_t*>(data);
  std::size_t done = 0;
  while (done < size) {
    const std::size_t got = readSome(bytes + done, size - done);
    if (got == 0) {
      throw Error(ErrorCode::kDataLoss, path_ + " is truncated: " +
                                            gotExpected(std::to_string(offset_) + " bytes",
                                                        std::to_string(offset_ + (size - done))));
    }
    done += got;
  }
}

void GzipFile::expectEnd() {
  std::uint8_t byte = 0;
  if (readSome(&byte, 1) != 0) {
    throw Error(ErrorCode::kDataLoss,
                path_ + ": " +
                    gotExpected("bytes after the last element",
                                "the end after " + std::to_string(offset_ - 1) + " bytes"));
  }
}

std::size_t GzipFile::readSome(void* data, std::size_t size) {
  const int got = gzread(file_, data, static_cast<unsigned>(std::min(size, kMaxRead)));
  int code = Z_OK;
  const char* words = gzerror(file_, &code);
  if (code == Z_ERRNO) {
    throw Error(ErrorCode::kIoError, "cannot read " + path_ + ": " + std::strerror(errno));
  }
  // Z_BUF_ERROR means that the gzip stream is truncated; readExactly() reports that.
  if (got < 0 && code != Z_BUF_ERROR) {
    throw Error(ErrorCode::kDataLoss, path_ + " is damaged: " + words);
  }
  const std::size_t count = static_cast<std::size_t>(std::max(got, 0));
  offset_ += count;
  return count;
}

}  // namespace steptape::detail::base
