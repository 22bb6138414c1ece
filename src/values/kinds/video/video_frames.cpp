// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/video/video_frames.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/got_expected.h"
#include "values/kinds/image/png_chunks.h"

namespace steptape::detail::values {
namespace {

const std::uint8_t* frameRow(const Frames& frames, std::int64_t i, int y) {
  const auto row = static_cast<std::size_t>(i) * frames.height + static_cast<std::size_t>(y);
  return frames.data.data() + row * rowBytes(frames);
}

}  // namespace

void checkFps(double fps) {
  constexpr double kSlowest = 0.01;
  constexpr double kFastest = 1000;
  if (!(fps >= kSlowest && fps <= kFastest)) {
    base::reject("fps = " + std::to_string(fps), "0.01 to 1000");
  }
}

void checkFrames(const Frames& frames, double fps) {
  checkFps(fps);
  checkPngSize(frames.width, frames.height, frames.channels);
  if (frames.count < 1) {
    base::reject(std::to_string(frames.count) + " frames", "at least 1");
  }
  const std::size_t frameBytes = rowBytes(frames) * static_cast<std::size_t>(frames.height);
  if (frames.data.size() % frameBytes != 0 ||
      frames.data.size() / frameBytes != static_cast<std::size_t>(frames.count)) {
    base::reject(
        std::to_string(frames.data.size()) + " bytes",
        std::to_string(frameBytes) + " for each of " + std::to_string(frames.count) + " frames");
  }
}

Area wholeArea(const Frames& frames) {
  return {0, 0, frames.width, frames.height};
}

Area changedArea(const Frames& frames, std::int64_t i) {
  const std::size_t row = rowBytes(frames);
  const auto differs = [&](int y) {
    return std::memcmp(frameRow(frames, i - 1, y), frameRow(frames, i, y), row) != 0;
  };
  int top = 0;
  while (top < frames.height && !differs(top)) {
    ++top;
  }
  if (top == frames.height) {
    return {0, 0, 1, 1};
  }
  int end = frames.height;
  while (!differs(end - 1)) {
    --end;
  }
  std::size_t first = row;
  std::size_t last = 0;  // past the end
  for (int y = top; y < end; ++y) {
    const std::uint8_t* const before = frameRow(frames, i - 1, y);
    const std::uint8_t* const now = frameRow(frames, i, y);
    first = static_cast<std::size_t>(std::mismatch(now, now + first, before).first - now);
    std::size_t behind = row;
    while (behind > last && now[behind - 1] == before[behind - 1]) {
      --behind;
    }
    last = behind;
  }
  const auto channels = static_cast<std::size_t>(frames.channels);
  const int left = static_cast<int>(first / channels);
  const int right = static_cast<int>((last - 1) / channels);
  return {left, top, right - left + 1, end - top};
}

const std::uint8_t* areaPixels(const Frames& frames, std::int64_t i, const Area& area) {
  return frameRow(frames, i, area.top) +
         static_cast<std::size_t>(area.left) * static_cast<std::size_t>(frames.channels);
}

std::size_t rowBytes(const Frames& frames) {
  return static_cast<std::size_t>(frames.width) * static_cast<std::size_t>(frames.channels);
}

}  // namespace steptape::detail::values
