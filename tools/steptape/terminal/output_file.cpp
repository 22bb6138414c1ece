// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/terminal/output_file.h"

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "steptape/base/status.h"

namespace steptape::tools {
namespace {

/// Returns the file that a link refers to, so that the file is replaced, not the link.
std::string linkTarget(const std::string& path) {
  std::error_code error;
  const std::filesystem::path target = std::filesystem::canonical(path, error);
  return error ? path : target.string();
}

bool isDevice(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

}  // namespace

OutputFile::OutputFile(const std::string& path) : path_(linkTarget(path)) {
  if (path.empty()) {
    stream_ = stdout;
  } else if (!isDevice(path_)) {
    file_.emplace(path_);
    file_->open().throwIfError();
  } else {
    stream_ = std::fopen(path_.c_str(), "wb");
    if (stream_ == nullptr) {
      fail();
    }
  }
}

OutputFile::~OutputFile() {
  if (stream_ != nullptr && stream_ != stdout) {
    std::fclose(stream_);
  }
}

void OutputFile::fail() const {
  throw Error(ErrorCode::kIoError, "cannot write " + (path_.empty() ? "the output" : path_) + ": " +
                                       std::generic_category().message(errno));
}

void OutputFile::write(std::string_view bytes) {
  if (file_) {
    file_->write(bytes);
    file_->status().throwIfError();
  } else if (std::fwrite(bytes.data(), 1, bytes.size(), stream_) != bytes.size()) {
    fail();
  }
}

void OutputFile::finish() {
  if (file_) {
    file_->finish().throwIfError();
    file_->appear(true).throwIfError();
  } else if (std::fflush(stream_) != 0) {
    fail();
  }
}

}  // namespace steptape::tools
