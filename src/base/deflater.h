// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <new>
#include <string>

#include <zlib.h>

namespace steptape::detail::base {

/// Compresses data and appends it to a string, at zlib's fastest level.
///
/// @threads Not thread-safe: one thread at a time.
class Deflater {
 public:
  enum class Form { kZlib, kGzip };

  /// @param strategy zlib's strategy.
  /// @param size     Number of bytes that will be added, or that a long stream gets at a time:
  ///                 little data needs no large tables.
  /// @throws std::bad_alloc if there is no memory; no other call needs any but the string's.
  Deflater(Form form, int strategy, std::size_t size, std::string* out) : out_(out) {
    constexpr int kLevel = 1;
    constexpr int kMinWindowBits = 9;
    constexpr int kMaxWindowBits = 15;
    // zlib's own difference between the two. With one less, moving its hash table costs more than
    // it saves.
    constexpr int kWindowToMemoryLevel = 7;
    constexpr int kGzipFlag = 16;  // added to the window's bits
    int windowBits = kMinWindowBits;
    while (windowBits < kMaxWindowBits && (std::size_t{1} << windowBits) < size) {
      ++windowBits;
    }
    // By operator new, so that memory for zlib counts and fails like all other memory.
    stream_.zalloc = [](void* /*opaque*/, uInt count, uInt bytes) {
      return ::operator new (std::size_t{count} * bytes, std::nothrow);
    };
    stream_.zfree = [](void* /*opaque*/, void* memory) { ::operator delete(memory); };
    if (deflateInit2(&stream_, kLevel, Z_DEFLATED,
                     windowBits + (form == Form::kGzip ? kGzipFlag : 0),
                     windowBits - kWindowToMemoryLevel, strategy) != Z_OK) {
      throw std::bad_alloc();
    }
    step_ = std::clamp(size / 2, kMinStep, kMaxStep);
  }
  ~Deflater() { deflateEnd(&stream_); }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  /// REQUIRES: size < 4 GiB.
  void add(const void* data, std::size_t size) {
    // zlib's interface takes no const pointer, but does not change the bytes.
    stream_.next_in = static_cast<Bytef*>(const_cast<void*>(data));
    stream_.avail_in = static_cast<uInt>(size);
    while (stream_.avail_in > 0) {
      run(Z_NO_FLUSH);
    }
  }

  /// Truncates the string to the written bytes. They may then be removed from it.
  void trim() {
    out_->resize(out_->size() - stream_.avail_out);
    stream_.avail_out = 0;
  }

  /// Ends the stream, and truncates the string to the written bytes.
  void finish() {
    while (run(Z_FINISH) != Z_STREAM_END) {
    }
    trim();
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

}  // namespace steptape::detail::base
