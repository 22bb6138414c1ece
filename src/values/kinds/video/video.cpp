// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/video/video.h"

#include "values/kinds/image/image_layout.h"
#include "values/kinds/image/png_chunks.h"
#include "values/kinds/video/video_frames.h"

namespace steptape::detail::values {
namespace {

constexpr ImageFormat kFormat = {"THW", "NC",
                                 "the letters of \"NTCHW\", of which 'N' and 'C' may be left out,"};

/// Returns a grid with at least `videos` tiles, a power of two. It has 2^floor(n / 2) rows, where
/// 2^n is the largest power of two that is at most `videos`.
TileGrid gridOf(std::int64_t videos) {
  int log = 0;
  while ((std::int64_t{2} << log) <= videos) {
    ++log;
  }
  const bool isPower = std::int64_t{1} << log == videos;
  const std::int64_t tiles = std::int64_t{1} << (isPower ? log : log + 1);
  const std::int64_t rows = std::int64_t{1} << (log / 2);
  return {tiles / rows, rows};
}

ImageLayout checkedLayout(const TensorView& video, std::string_view dataFormat) {
  const ImageLayout layout = imageLayout(video, dataFormat, kFormat);
  const TileGrid grid = gridOf(layout.images.size);
  checkPngSize(layout.columns.size * grid.columns, layout.rows.size * grid.rows,
               layout.channels.size);
  return layout;
}

}  // namespace

void checkVideo(const TensorView& video, const VideoOptions& options) {
  checkFps(options.fps);
  checkedLayout(video, options.dataFormat);
}

Frames videoFrames(const TensorView& video, std::string_view dataFormat) {
  const ImageLayout layout = checkedLayout(video, dataFormat);
  const TileGrid grid = gridOf(layout.images.size);
  Frames frames;
  frames.width = static_cast<int>(layout.columns.size * grid.columns);
  frames.height = static_cast<int>(layout.rows.size * grid.rows);
  frames.channels = static_cast<int>(layout.channels.size);
  frames.count = layout.frames.size;
  const std::size_t frameBytes = rowBytes(frames) * static_cast<std::size_t>(frames.height);
  frames.data.resize(frameBytes * static_cast<std::size_t>(frames.count));
  for (std::int64_t i = 0; i < frames.count; ++i) {
    std::uint8_t* const to = frames.data.data() + static_cast<std::size_t>(i) * frameBytes;
    frames.unshown.add(copyTiles(video, layout, i, grid, to));
  }
  return frames;
}

}  // namespace steptape::detail::values
