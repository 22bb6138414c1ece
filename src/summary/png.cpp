// SPDX-License-Identifier: Apache-2.0
#include <new>
#include <string>
#include <string_view>

#include "steptape/base/error.h"
#include "steptape/summary/image.h"

#include "summary/png_filter.h"

#include <zlib.h>

namespace steptape {
namespace {

constexpr std::string_view kSignature = "\x89PNG\r\n\x1a\n";
/// zlib and the chunk's length have 32 bits, of which PNG uses 31.
constexpr std::size_t kMaxBytes = std::size_t{1} << 30;
// Photographs filter to noise around zero in which longer matches find nothing: looking for runs
// only compresses them as well as libpng's default does, in a tenth of its time.
constexpr int kStrategy = Z_RLE;
constexpr int kCompressionLevel = 1;
constexpr std::size_t kOutputStep = 64 * 1024;

std::size_t rowBytes(const Pixels& pixels) {
  return static_cast<std::size_t>(pixels.width) * pixels.channels;
}

std::string describe(const Pixels& pixels) {
  return "PNG: an image of " + std::to_string(pixels.width) + " x " +
         std::to_string(pixels.height) + " pixels with " + std::to_string(pixels.channels) +
         " channels";
}

void check(const Pixels& pixels) {
  if (pixels.width < 1 || pixels.height < 1) {
    throw Error(ErrorCode::kInvalidArgument, describe(pixels) + ", wanted positive sides");
  }
  if (pixels.channels != 1 && pixels.channels != 3 && pixels.channels != 4) {
    throw Error(ErrorCode::kInvalidArgument, describe(pixels) + ", wanted 1, 3 or 4 channels");
  }
  // In this order no product overflows.
  const std::size_t row = rowBytes(pixels);
  if (row > kMaxBytes || row * pixels.height > kMaxBytes) {
    throw Error(ErrorCode::kInvalidArgument, describe(pixels) + ", wanted at most 1 GiB");
  }
  if (pixels.data.size() != row * pixels.height) {
    throw Error(ErrorCode::kInvalidArgument,
                describe(pixels) + " has " + std::to_string(pixels.data.size()) +
                    " bytes, wanted " + std::to_string(row * pixels.height));
  }
}

std::string bigEndian(std::uint32_t value) {
  std::string bytes(4, '\0');
  for (int i = 3; i >= 0; --i, value >>= 8) {
    bytes[i] = static_cast<char>(value & 0xFF);
  }
  return bytes;
}

const Bytef* asBytes(const char* data) {
  return reinterpret_cast<const Bytef*>(data);
}

/// Completes the chunk whose length field begins at `start`, once its type and data are appended.
void finishChunk(std::size_t start, std::string* png) {
  const std::size_t typeAt = start + 4;
  const std::size_t length = png->size() - typeAt - 4;
  png->replace(start, 4, bigEndian(static_cast<std::uint32_t>(length)));
  const uLong crc = crc32(0, asBytes(png->data() + typeAt), static_cast<uInt>(length + 4));
  *png += bigEndian(static_cast<std::uint32_t>(crc));
}

void appendChunk(std::string_view type, std::string_view data, std::string* png) {
  const std::size_t start = png->size();
  png->append(4, '\0').append(type).append(data);
  finishChunk(start, png);
}

void appendHeader(const Pixels& pixels, std::string* png) {
  constexpr char kGrey = 0;
  constexpr char kRgb = 2;
  constexpr char kRgbAndAlpha = 6;
  std::string header = bigEndian(static_cast<std::uint32_t>(pixels.width)) +
                       bigEndian(static_cast<std::uint32_t>(pixels.height));
  header += 8;  // bits a channel
  header += pixels.channels == 1 ? kGrey : pixels.channels == 3 ? kRgb : kRgbAndAlpha;
  header.append(3, '\0');  // deflate, the five basic filters, not interlaced
  appendChunk("IHDR", header, png);
}

/// Compresses onto the end of a string.
///
/// @threads Not thread-safe: one thread at a time.
class Deflater {
 public:
  explicit Deflater(std::string* out) : out_(out) {
    constexpr int kWindowBits = 15;
    constexpr int kMemoryLevel = 9;
    if (deflateInit2(&stream_, kCompressionLevel, Z_DEFLATED, kWindowBits, kMemoryLevel,
                     kStrategy) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  ~Deflater() { deflateEnd(&stream_); }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  void add(const std::uint8_t* data, std::size_t size) {
    // zlib's interface takes no const pointer, and leaves the bytes as they are.
    stream_.next_in = const_cast<Bytef*>(data);
    stream_.avail_in = static_cast<uInt>(size);
    while (stream_.avail_in > 0) {
      run(Z_NO_FLUSH);
    }
  }

  /// Ends the stream and cuts the string to what was written.
  void finish() {
    while (run(Z_FINISH) != Z_STREAM_END) {
    }
    out_->resize(out_->size() - stream_.avail_out);
    stream_.avail_out = 0;
  }

 private:
  int run(int flush) {
    if (stream_.avail_out == 0) {
      out_->resize(out_->size() + kOutputStep);
      stream_.avail_out = kOutputStep;
    }
    // Again each time: growing moves the string.
    stream_.next_out = reinterpret_cast<Bytef*>(out_->data() + out_->size() - stream_.avail_out);
    return deflate(&stream_, flush);
  }

  std::string* out_;
  z_stream stream_{};
};

void appendImageData(const Pixels& pixels, std::string* png) {
  const std::size_t start = png->size();
  png->append(4, '\0').append("IDAT");
  const std::size_t size = rowBytes(pixels);
  detail::PngRowFilter filter(size, static_cast<std::size_t>(pixels.channels));
  Deflater deflater(png);
  for (int y = 0; y < pixels.height; ++y) {
    deflater.add(filter.next(pixels.data.data() + y * size), size + 1);
  }
  deflater.finish();
  finishChunk(start, png);
}

}  // namespace

std::string encodePng(const Pixels& pixels) {
  check(pixels);
  std::string png(kSignature);
  appendHeader(pixels, &png);
  appendImageData(pixels, &png);
  appendChunk("IEND", {}, &png);
  return png;
}

}  // namespace steptape
