// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>

#include <zlib.h>

namespace steptape::detail::values {

/// Compresses data and appends it to a string, at zlib's fastest level.
///
/// @threads Not thread-safe: one thread at a time.
class PngDeflater {
 public:
  /// @param strategy zlib's strategy.
  /// @param size     Number of bytes that will be added; a small image needs no large tables.
  PngDeflater(int strategy, std::size_t size, std::string* out) : out_(out) {
    constexpr int kLevel = 1;
    constexpr int kMinWindowBits = 9;
    constexpr int kMaxWindowBits = 15;
    // zlib's own difference between the two. With one less, moving its hash table costs more than
    // it saves.
    constexpr int kWindowToMemoryLevel = 7;
    int windowBits = kMinWindowBits;
    while (windowBits < kMaxWindowBits && (std::size_t{1} << windowBits) < size) {
      ++windowBits;
    }
    if (deflateInit2(&stream_, kLevel, Z_DEFLATED, windowBits, windowBits - kWindowToMemoryLevel,
                     strategy) != Z_OK) {
      throw std::bad_alloc();
    }
    step_ = std::clamp(size / 2, kMinStep, kMaxStep);
  }
  ~PngDeflater() { deflateEnd(&stream_); }
  PngDeflater(const PngDeflater&) = delete;
  PngDeflater& operator=(const PngDeflater&) = delete;

  void add(const std::uint8_t* data, std::size_t size) {
    // zlib's interface takes no const pointer, but does not change the bytes.
    stream_.next_in = const_cast<Bytef*>(data);
    stream_.avail_in = static_cast<uInt>(size);
    while (stream_.avail_in > 0) {
      run(Z_NO_FLUSH);
    }
  }

  /// Ends the stream and truncates the string to the written bytes.
  void finish() {
    while (run(Z_FINISH) != Z_STREAM_END) {
    }
    out_->resize(out_->size() - stream_.avail_out);
    stream_.avail_out = 0;
  }

 private:
  static constexpr std::size_t kMinStep = 256;
  static constexpr std::size_t kMaxStep = std::size_t{256} * 1024;

  int run(int flush) {
    if (stream_.avail_out == 0) {
      out_->resize(out_->size() + step_);
      stream_.avail_out = static_cast<uInt>(step_);
    }
    // Set at every iteration, because growing moves the string.
    stream_.next_out = reinterpret_cast<Bytef*>(out_->data() + out_->size() - stream_.avail_out);
    return deflate(&stream_, flush);
  }

  std::string* out_;
  std::size_t step_ = 0;
  z_stream stream_{};
};

}  // namespace steptape::detail::values
