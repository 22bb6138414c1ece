// SPDX-License-Identifier: Apache-2.0
#include "base/whole_file.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

#include "base/replacement_file.h"

namespace steptape::detail::base {

Status readWholeFile(const std::string& path, std::string& bytes) {
  bytes.clear();
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"),
                                                             std::fclose);
  if (file != nullptr) {
    char buffer[1 << 16];
    while (const std::size_t size = std::fread(buffer, 1, sizeof buffer, file.get())) {
      bytes.append(buffer, size);
    }
  }
  if (file == nullptr || std::ferror(file.get()) != 0) {
    return {ErrorCode::kIoError,
            "cannot read " + path + ": " + std::generic_category().message(errno)};
  }
  return {};
}

Status createDirectoriesOf(const std::string& path) {
  const std::filesystem::path directory = std::filesystem::absolute(path).parent_path();
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  return error ? Status(ErrorCode::kIoError, "cannot create the directory " + directory.string() +
                                                 ": " + error.message())
               : Status();
}

Status replaceFile(const std::string& path, std::string_view bytes) {
  ReplacementFile file(path);
  Status status = createDirectoriesOf(path);
  if (status.ok()) {
    status = file.open();
  }
  if (status.ok()) {
    file.write(bytes);
    status = file.finish();  // also reports failures of the writes
  }
  return status.ok() ? file.appear(true) : status;
}

}  // namespace steptape::detail::base
