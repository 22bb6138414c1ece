// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/audio/wav_header.h"

#include <algorithm>
#include <string_view>

#include "base/little_endian.h"

namespace steptape::detail::values {
namespace {

constexpr std::uint32_t kFormatPcm = 1;
constexpr std::uint32_t kFormatFloat = 3;
constexpr std::uint32_t kFormatExtensible = 0xFFFE;

// In the extensible form, the format tag starts a GUID. These are the remaining bytes of the GUID.
constexpr std::string_view kSubformatTail(
    "\x00\x00\x00\x00\x10\x00\x80\x00\x00\xAA\x00\x38\x9B\x71", 14);

void append32(std::string* out, std::uint32_t value) {
  char bytes[4];
  base::storeLittleEndian32(bytes, value);
  out->append(bytes, sizeof(bytes));
}

void append16(std::string* out, std::uint32_t value) {
  char bytes[4];
  base::storeLittleEndian32(bytes, value);
  out->append(bytes, 2);
}

void appendChunk(std::string* out, std::string_view name, std::string_view data) {
  *out += name;
  append32(out, static_cast<std::uint32_t>(data.size()));
  *out += data;
}

std::string formatChunk(const WavFormat& format) {
  const std::uint32_t frameBytes = format.channels * format.sampleBytes;
  const std::uint32_t tag = format.isFloat ? kFormatFloat : kFormatPcm;
  // The plain form defines only left and right.
  const bool isExtensible = format.channels > 2;
  std::string chunk;
  append16(&chunk, isExtensible ? kFormatExtensible : tag);
  append16(&chunk, format.channels);
  append32(&chunk, format.sampleRate);
  append32(&chunk, format.sampleRate * frameBytes);
  append16(&chunk, frameBytes);
  append16(&chunk, format.sampleBytes * 8);
  if (isExtensible) {
    append16(&chunk, 22);  // number of bytes that follow
    append16(&chunk, format.sampleBytes * 8);
    append32(&chunk, 0);  // no channel is assigned to a loudspeaker
    append16(&chunk, tag);
    chunk += kSubformatTail;
  } else if (format.isFloat) {
    append16(&chunk, 0);  // size of the extension; only PCM may omit it
  }
  return chunk;
}

}  // namespace

std::string wavHeader(const WavFormat& format, std::uint32_t frames) {
  std::string chunks = "WAVE";
  appendChunk(&chunks, "fmt ", formatChunk(format));
  if (format.isFloat) {
    // Every format except PCM needs its length in frames.
    std::string fact;
    append32(&fact, frames);
    appendChunk(&chunks, "fact", fact);
  }
  // Samples have two or four bytes, so the chunk never needs a padding byte.
  const std::uint32_t dataBytes = frames * format.channels * format.sampleBytes;
  chunks += "data";
  append32(&chunks, dataBytes);

  std::string header = "RIFF";
  append32(&header, static_cast<std::uint32_t>(chunks.size()) + dataBytes);
  return header + chunks;
}

WavLength wavLength(std::string_view file) {
  constexpr std::size_t kChunkHeader = 8;
  constexpr std::size_t kFormatBytes = 16;
  constexpr std::size_t kFileHeader = 12;
  if (file.size() < kFileHeader || file.substr(0, 4) != "RIFF" || file.substr(8, 4) != "WAVE") {
    return {};
  }
  WavLength length;
  std::uint32_t frameBytes = 0;
  file.remove_prefix(kFileHeader);
  while (file.size() >= kChunkHeader) {
    const std::string_view name = file.substr(0, 4);
    const std::uint32_t size = base::loadLittleEndian32(file.data() + 4);
    file.remove_prefix(kChunkHeader);
    if (name == "data") {
      length.frames = frameBytes == 0 ? 0 : size / frameBytes;
      return length;
    }
    if (name == "fmt " && file.size() >= kFormatBytes) {
      length.channels = base::loadLittleEndian32(file.data()) >> 16;
      length.sampleRate = base::loadLittleEndian32(file.data() + 4);
      frameBytes = base::loadLittleEndian32(file.data() + 12) & 0xffff;
    }
    // A chunk of odd size is followed by a padding byte.
    file.remove_prefix(std::min<std::size_t>(file.size(), std::size_t{size} + size % 2));
  }
  return {};
}

}  // namespace steptape::detail::values
