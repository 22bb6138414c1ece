// SPDX-License-Identifier: Apache-2.0
#include "tools/output_file.h"

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "steptape/base/error.h"

namespace steptape::tools {
namespace {

/// A link stays one: the file that it leads to is replaced.
std::string behindLinks(const std::string& path) {
  std::error_code error;
  const std::filesystem::path target = std::filesystem::canonical(path, error);
  return error ? path : target.string();
}

/// A name to write under until the file is whole; `path` itself if that is no file but a device.
std::string temporaryName(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  const bool isDevice =
      std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
  return isDevice ? path : path + ".part" + std::to_string(getpid());
}

}  // namespace

OutputFile::OutputFile(std::string path)
    : path_(behindLinks(path)),
      written_(path.empty() ? path : temporaryName(path_)),
      file_(path.empty() ? stdout : std::fopen(written_.c_str(), "wb")) {
  if (file_ == nullptr) {
    fail();
  }
}

OutputFile::~OutputFile() {
  if (file_ == nullptr || file_ == stdout) {
    return;
  }
  std::fclose(file_);
  if (written_ != path_) {
    std::remove(written_.c_str());
  }
}

void OutputFile::fail() const {
  throw Error(ErrorCode::kIoError, "cannot write " + (path_.empty() ? "the output" : path_) + ": " +
                                       std::generic_category().message(errno));
}

void OutputFile::write(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) {
    fail();
  }
}

void OutputFile::finish() {
  if (std::fflush(file_) != 0) {
    fail();
  }
  if (file_ == stdout) {
    return;
  }
  if (written_ != path_ &&
      (fsync(fileno(file_)) != 0 || std::rename(written_.c_str(), path_.c_str()) != 0)) {
    fail();
  }
  std::fclose(file_);
  file_ = nullptr;
}

}  // namespace steptape::tools
