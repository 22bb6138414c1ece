// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/whole_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/replacement_file.h"

namespace steptape::detail {
Status readWholeFile(const std::string& path, std::string& bytes) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (file) {
    bytes.assign(std::istreambuf_iterator<char>(file), {});
  }
  if (!file || file.bad()) {
    return {ErrorCode::kIoError, "cannot read " + path + ": " + std::strerror(errno)};
  }
  return {};
}

Status replaceFile(const std::string& path, std::string_view bytes) {
  const std::filesystem::path directory = std::filesystem::absolute(path).parent_path();
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) {
    return {ErrorCode::kIoError,
            "cannot create the directory " + directory.string() + ": " + error.message()};
  }
  ReplacementFile file(path);
  Status status = file.open();
  if (status.ok()) {
    static_cast<void>(file.write(bytes));
    status = file.finish();  // with what writing met
  }
  return status.ok() ? file.appear(true) : status;
}

}  // namespace steptape::detail
