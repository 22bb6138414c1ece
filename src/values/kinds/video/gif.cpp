// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "values/kinds/video/gif_lzw.h"
#include "values/kinds/video/gif_palette.h"
#include "values/kinds/video/video.h"
#include "values/kinds/video/video_frames.h"

namespace steptape {
namespace {

using detail::values::Area;
using detail::values::IndexedPixels;

void append16(std::int64_t value, std::string* gif) {
  *gif += static_cast<char>(value & 0xFF);
  *gif += static_cast<char>(value >> 8 & 0xFF);
}

void appendHeader(const detail::values::Frames& frames, std::string* gif) {
  using namespace std::string_view_literals;
  *gif += "GIF89a";
  append16(frames.width, gif);
  append16(frames.height, gif);
  *gif += "\0\0\0"sv;                                 // every frame has its own colors
  *gif += "\x21\xFF\x0BNETSCAPE2.0\x03\x01\0\0\0"sv;  // repeats forever
}

/// Returns the duration of frame `i` in hundredths of a second. The total never deviates by more
/// than half a hundredth.
std::int64_t delayOf(std::int64_t i, double fps) {
  const auto time = [&](std::int64_t frame) {
    return std::llround(static_cast<double>(frame) * 100 / fps);
  };
  return time(i + 1) - time(i);
}

/// Returns the bits of a color number; GIF requires at least two.
int bitsFor(std::size_t colors) {
  int bits = 2;
  while ((std::size_t{1} << bits) < colors) {
    ++bits;
  }
  return bits;
}

void appendControl(std::int64_t delay, int transparent, std::string* gif) {
  constexpr int kKeep = 1 << 2;   // the next frame is drawn over this one
  constexpr int kClear = 2 << 2;  // the frame's pixels become transparent
  *gif += "\x21\xF9\x04";
  *gif += static_cast<char>(transparent < 0 ? kKeep : kClear | 1);
  append16(delay, gif);
  *gif += static_cast<char>(transparent < 0 ? 0 : transparent);
  *gif += '\0';
}

void appendImage(const IndexedPixels& pixels, const Area& area, std::string* gif) {
  constexpr int kOwnColors = 0x80;
  const int bits = bitsFor(pixels.palette.size());
  *gif += '\x2C';
  for (const int number : {area.left, area.top, area.width, area.height}) {
    append16(number, gif);
  }
  *gif += static_cast<char>(kOwnColors | (bits - 1));
  for (const auto& color : pixels.palette) {
    gif->append(color.begin(), color.end());
  }
  gif->append(3 * ((std::size_t{1} << bits) - pixels.palette.size()), '\0');
  detail::values::appendGifLzw(pixels.indices, bits, gif);
}

std::vector<std::uint8_t> cutOut(const detail::values::Frames& frames, std::int64_t i,
                                 const Area& area) {
  const std::size_t row =
      static_cast<std::size_t>(area.width) * static_cast<std::size_t>(frames.channels);
  std::vector<std::uint8_t> pixels;
  pixels.reserve(row * static_cast<std::size_t>(area.height));
  const std::uint8_t* from = detail::values::areaPixels(frames, i, area);
  for (int y = 0; y < area.height; ++y, from += detail::values::rowBytes(frames)) {
    pixels.insert(pixels.end(), from, from + row);
  }
  return pixels;
}

}  // namespace

std::string detail::values::encodeGif(const detail::values::Frames& frames, double fps) {
  detail::values::checkFrames(frames, fps);
  detail::values::checkGifSize(frames.width, frames.height);
  // A transparent pixel would show the previous frame, so frames with alpha are complete and then
  // cleared.
  const bool hasAlpha = frames.channels == 4;
  std::string gif;
  appendHeader(frames, &gif);
  for (std::int64_t i = 0; i < frames.count; ++i) {
    const Area area = i == 0 || hasAlpha ? detail::values::wholeArea(frames)
                                         : detail::values::changedArea(frames, i);
    const IndexedPixels pixels = detail::values::quantize(cutOut(frames, i, area), frames.channels);
    appendControl(delayOf(i, fps), pixels.transparent, &gif);
    appendImage(pixels, area, &gif);
  }
  gif += '\x3B';
  return gif;
}

}  // namespace steptape
