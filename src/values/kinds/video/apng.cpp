// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>

#include "values/kinds/image/png_chunks.h"
#include "values/kinds/image/png_rows.h"
#include "values/kinds/video/video.h"
#include "values/kinds/video/video_frames.h"

namespace steptape {
namespace {

using detail::values::Area;

/// The duration of a frame in seconds, as a fraction.
struct Delay {
  std::uint16_t numerator;
  std::uint16_t denominator;
};

/// Returns the fraction nearest to 1 / fps whose numbers fit, by continued fractions: 30000 / 1001
/// frames per second become 1001 / 30000 s.
Delay delayFor(double fps) {
  constexpr double kClose = 1e-9;
  // The last two convergents of fps.
  double p = 1;
  double q = 0;
  double pBefore = 0;
  double qBefore = 1;
  double rest = fps;
  while (true) {
    const double whole = std::floor(rest);
    const double pNext = whole * p + pBefore;
    const double qNext = whole * q + qBefore;
    if (pNext > UINT16_MAX || qNext > UINT16_MAX) {
      break;
    }
    pBefore = p;
    qBefore = q;
    p = pNext;
    q = qNext;
    if (std::abs(p / q - fps) <= kClose * fps) {
      break;
    }
    rest = 1 / (rest - whole);
  }
  return {static_cast<std::uint16_t>(q), static_cast<std::uint16_t>(p)};
}

void appendAnimationControl(std::int64_t frames, std::string* png) {
  constexpr std::uint32_t kForEver = 0;
  const std::size_t chunk = detail::values::beginPngChunk("acTL", png);
  detail::values::appendBigEndian32(static_cast<std::uint32_t>(frames), png);
  detail::values::appendBigEndian32(kForEver, png);
  detail::values::finishPngChunk(chunk, png);
}

void appendFrameControl(std::uint32_t sequence, const Area& area, Delay delay, std::string* png) {
  constexpr char kKeep = 0;     // the next frame is drawn over this one
  constexpr char kReplace = 0;  // the frame's pixels replace those below without blending
  const std::size_t chunk = detail::values::beginPngChunk("fcTL", png);
  detail::values::appendBigEndian32(sequence, png);
  for (const int number : {area.width, area.height, area.left, area.top}) {
    detail::values::appendBigEndian32(static_cast<std::uint32_t>(number), png);
  }
  detail::values::appendBigEndian16(delay.numerator, png);
  detail::values::appendBigEndian16(delay.denominator, png);
  *png += kKeep;
  *png += kReplace;
  detail::values::finishPngChunk(chunk, png);
}

void appendPixels(const detail::values::Frames& frames, std::int64_t i, const Area& area,
                  std::string* png) {
  const auto channels = static_cast<std::size_t>(frames.channels);
  detail::values::compressPngRows(
      {detail::values::areaPixels(frames, i, area), static_cast<std::size_t>(area.height),
       static_cast<std::size_t>(area.width) * channels, detail::values::rowBytes(frames), channels},
      png);
}

}  // namespace

std::string detail::values::encodeApng(const detail::values::Frames& frames, double fps) {
  detail::values::checkFrames(frames, fps);
  const Delay delay = delayFor(fps);
  std::string png(detail::values::kPngSignature);
  detail::values::appendPngHeader(frames.width, frames.height, frames.channels, &png);
  appendAnimationControl(frames.count, &png);

  const Area whole = detail::values::wholeArea(frames);
  std::uint32_t sequence = 0;
  appendFrameControl(sequence++, whole, delay, &png);
  const std::size_t first = detail::values::beginPngChunk("IDAT", &png);
  appendPixels(frames, 0, whole, &png);
  detail::values::finishPngChunk(first, &png);

  for (std::int64_t i = 1; i < frames.count; ++i) {
    const Area changed = detail::values::changedArea(frames, i);
    appendFrameControl(sequence++, changed, delay, &png);
    const std::size_t chunk = detail::values::beginPngChunk("fdAT", &png);
    detail::values::appendBigEndian32(sequence++, &png);
    appendPixels(frames, i, changed, &png);
    detail::values::finishPngChunk(chunk, &png);
  }
  detail::values::appendPngChunk("IEND", {}, &png);
  return png;
}

}  // namespace steptape
