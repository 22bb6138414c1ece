// SPDX-License-Identifier: Apache-2.0
#include "log/export/media_files.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "steptape/base/status.h"

#include "base/fnv.h"
#include "base/utf8.h"
#include "log/reader/media_format.h"

namespace steptape::detail::log {
namespace {

// Most file systems limit a name to 255 bytes.
constexpr std::size_t kMaxName = 200;

void appendHex(std::string* out, std::uint64_t value, int digits) {
  for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4) {
    *out += "0123456789ABCDEF"[(value >> shift) & 0xfU];
  }
}

bool isPlain(unsigned char c) {
  return c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         c == '_' || c == '-' || c == '.';
}

[[noreturn]] void throwCannotWrite(const std::string& path, int error) {
  throw Error(ErrorCode::kIoError,
              "cannot write " + path + ": " + std::generic_category().message(error));
}

/// Writes a file; removes a partial file.
void writeFile(const std::string& path, std::string_view bytes) {
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) {
    throwCannotWrite(path, errno);
  }
  int error = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size() ? 0 : errno;
  if (std::fclose(file) != 0 && error == 0) {
    error = errno;
  }
  if (error != 0) {
    std::remove(path.c_str());
    throwCannotWrite(path, error);
  }
}

}  // namespace

std::string fileNameFrom(std::string_view name) {
  const bool isUtf8 = base::isValidUtf8(name);
  std::string escaped;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (isPlain(byte) && (isUtf8 || byte < 0x80) && !(c == '.' && escaped.empty())) {
      escaped += c;
    } else {
      escaped += '%';
      appendHex(&escaped, byte, 2);
    }
  }
  if (escaped.empty()) {
    return "%";  // cannot be an escaped name
  }
  if (escaped.size() > kMaxName) {
    std::size_t size = kMaxName;
    while (base::isUtf8Continuation(escaped[size])) {
      --size;  // not within a character
    }
    escaped.resize(size);
    escaped += '~';  // elsewhere, '~' is escaped
    appendHex(&escaped, base::Fnv<std::uint64_t>().add(name).hash(), 16);
  }
  return escaped;
}

void MediaFiles::at(const std::string& run, const std::string& tag, std::int64_t step) {
  const std::string directory = directory_ + "/" + fileNameFrom(run) + "/" + fileNameFrom(tag);
  current_ = &*written_.try_emplace(directory).first;
  step_ = step;
}

std::string MediaFiles::write(std::string_view bytes) {
  auto& [directory, steps] = *current_;
  if (steps.empty()) {
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    if (error) {
      throw Error(ErrorCode::kIoError, "cannot create " + directory + ": " + error.message());
    }
  }
  std::string path = directory + "/" + std::to_string(step_) + "_" +
                     std::to_string(steps[step_]++) + "." + mediaFormat(bytes);
  writeFile(path, bytes);
  return path;
}

}  // namespace steptape::detail::log
