// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

// Shared parts of the fuzz targets. A target makes arguments from bytes, calls the library with
// them, and ends the process if a guarantee is violated. steptape::Error is a valid outcome.

namespace steptape {

/// Ends the process, which libFuzzer and the replay report as a finding.
inline void require(bool condition, const char* promise) {
  if (!condition) {
    std::fprintf(stderr, "broken promise: %s\n", promise);
    std::abort();
  }
}

/// The bytes of one case, consumed from the front. Zeros follow the last byte.
class FuzzInput {
 public:
  FuzzInput(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

  std::uint8_t byte() {
    if (size_ == 0) {
      return 0;
    }
    --size_;
    return *data_++;
  }

  /// Returns a number from 0 to `count` - 1, of at most 256 different ones.
  std::size_t below(std::size_t count) { return byte() % count; }

  std::int64_t integer() {
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i) {
      value = value << 8 | byte();
    }
    return static_cast<std::int64_t>(value);
  }

  /// Returns up to 255 bytes.
  std::string text() {
    std::string text(byte(), '\0');
    for (char& c : text) {
      c = static_cast<char>(byte());
    }
    return text;
  }

  /// Returns the remaining bytes.
  std::string rest() {
    std::string bytes(data_, data_ + size_);
    data_ += size_;
    size_ = 0;
    return bytes;
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
};

}  // namespace steptape
