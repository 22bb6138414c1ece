// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/video/video.h"

#include <limits>
#include <numeric>
#include <string>
#include <string_view>

#include "support/expect_error.h"
#include "values/kinds/image/png_chunks.h"
#include "values/kinds/png_decoder.h"

namespace steptape {
namespace {

using test::expectInvalidArgument;
using Bytes = std::vector<std::uint8_t>;

std::uint32_t bigEndian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char byte : bytes) {
    value = value << 8 | static_cast<std::uint8_t>(byte);
  }
  return value;
}

struct Chunk {
  std::string type;
  std::string data;
};

std::vector<Chunk> chunksOf(const std::string& png) {
  std::vector<Chunk> chunks;
  std::size_t at = 8;
  while (at < png.size()) {
    const std::uint32_t length = bigEndian(png.substr(at, 4));
    chunks.push_back({png.substr(at + 4, 4), png.substr(at + 8, length)});
    at += 12 + length;
  }
  return chunks;
}

std::vector<Chunk> chunksOf(const std::string& png, std::string_view type) {
  std::vector<Chunk> found;
  for (Chunk& chunk : chunksOf(png)) {
    if (chunk.type == type) {
      found.push_back(std::move(chunk));
    }
  }
  return found;
}

/// Returns what a player shows: each frame decoded by libpng as a separate image and drawn over the
/// previous one.
std::vector<Bytes> play(const std::string& apng) {
  const detail::values::Pixels whole = decodePng(apng);
  const auto channels = static_cast<std::size_t>(whole.channels);
  std::vector<Bytes> frames;
  Bytes canvas(whole.data.size());
  std::string control;
  for (const Chunk& chunk : chunksOf(apng)) {
    if (chunk.type == "fcTL") {
      control = chunk.data;
    } else if (chunk.type == "IDAT" || chunk.type == "fdAT") {
      const auto number = [&](std::size_t i) { return bigEndian(control.substr(4 * i, 4)); };
      std::string png(detail::values::kPngSignature);
      detail::values::appendPngHeader(static_cast<int>(number(1)), static_cast<int>(number(2)),
                                      whole.channels, &png);
      detail::values::appendPngChunk(
          "IDAT", chunk.type == "IDAT" ? chunk.data : chunk.data.substr(4), &png);
      detail::values::appendPngChunk("IEND", {}, &png);
      const detail::values::Pixels part = decodePng(png);
      for (std::size_t y = 0; y < static_cast<std::size_t>(part.height); ++y) {
        const std::size_t row = static_cast<std::size_t>(part.width) * channels;
        const std::size_t to =
            ((number(4) + y) * static_cast<std::size_t>(whole.width) + number(3)) * channels;
        std::memcpy(&canvas[to], &part.data[y * row], row);
      }
      frames.push_back(canvas);
    }
  }
  return frames;
}

/// Returns a gray video of one pixel per frame.
detail::values::Frames pixelVideo(const Bytes& values) {
  return {1, 1, 1, static_cast<std::int64_t>(values.size()), values};
}

/// Returns a square that moves over noise.
detail::values::Frames movingSquare(int channels) {
  detail::values::Frames frames{31, 23, channels, 5, {}};
  const std::size_t bytes = 31 * 23 * static_cast<std::size_t>(channels);
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t byte = 0; byte < bytes; ++byte) {
      const std::size_t x = byte / channels % 31;
      const std::size_t y = byte / channels / 31;
      const bool inside = x >= 3 * i && x < 3 * i + 6 && y >= 2 * i && y < 2 * i + 6;
      frames.data.push_back(inside ? 255 : static_cast<std::uint8_t>((byte * 2654435761U) >> 24));
    }
  }
  return frames;
}

std::vector<Bytes> split(const detail::values::Frames& frames) {
  const std::size_t bytes = frames.data.size() / static_cast<std::size_t>(frames.count);
  std::vector<Bytes> parts;
  for (auto from = frames.data.begin(); from != frames.data.end(); from += bytes) {
    parts.emplace_back(from, from + static_cast<std::ptrdiff_t>(bytes));
  }
  return parts;
}

// The grids: tensorboardX 2.6.5, utils._prepare_video() of videos that are one gray pixel each.
TEST(VideoFrames, TileABatchLikeTensorboardX) {
  const Bytes values = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const auto tiled = [&](std::int64_t videos) {
    return detail::values::videoFrames(TensorView(values.data(), {videos, 1, 1, 1, 1}), "NTCHW");
  };
  EXPECT_EQ(tiled(1).data, (Bytes{1}));
  EXPECT_EQ(tiled(2).data, (Bytes{1, 2}));
  EXPECT_EQ(tiled(2).width, 2);
  EXPECT_EQ(tiled(3).data, (Bytes{1, 2, 3, 0}));
  EXPECT_EQ(tiled(3).width, 4);
  EXPECT_EQ(tiled(4).data, (Bytes{1, 2, 3, 4}));
  EXPECT_EQ(tiled(4).width, 2);
  EXPECT_EQ(tiled(4).height, 2);
  EXPECT_EQ(tiled(5).data, (Bytes{1, 2, 3, 4, 5, 0, 0, 0}));
  EXPECT_EQ(tiled(5).width, 4);
  EXPECT_EQ(tiled(9).data, (Bytes{1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(tiled(9).height, 2);
}

TEST(VideoFrames, TakeTheDimensionsInAnyOrder) {
  // (T, H, W, C) = (2, 2, 2, 3)
  Bytes values(24);
  std::iota(values.begin(), values.end(), std::uint8_t{0});
  EXPECT_EQ(detail::values::videoFrames(TensorView(values.data(), {2, 2, 2, 3}), "THWC").data,
            values);
  const TensorView planes(values.data(), {1, 2, 3, 2, 2}, {0, 12, 1, 6, 3});
  EXPECT_EQ(detail::values::videoFrames(planes, "NTCHW").data, values);
  const TensorView channelsFirst(values.data(), {3, 2, 2, 2}, {1, 12, 6, 3});
  EXPECT_EQ(detail::values::videoFrames(channelsFirst, "CTHW").data, values);
  const detail::values::Frames gray =
      detail::values::videoFrames(TensorView(values.data(), {2, 4, 3}), "THW");
  EXPECT_EQ(gray.count, 2);
  EXPECT_EQ(gray.channels, 1);
  EXPECT_EQ(gray.data, values);
}

TEST(VideoFrames, TileFramesOfTheSameTime) {
  // Two gray videos of three frames of one pixel.
  const Bytes values = {1, 2, 3, 11, 12, 13};
  EXPECT_EQ(detail::values::videoFrames(TensorView(values.data(), {2, 3, 1, 1}), "NTHW").data,
            (Bytes{1, 11, 2, 12, 3, 13}));
}

TEST(VideoFrames, CountNans) {
  const float values[] = {1, std::numeric_limits<float>::quiet_NaN(), 0.5F};
  const detail::values::Frames frames =
      detail::values::videoFrames(TensorView(values, {3, 1, 1}), "THW");
  EXPECT_EQ(frames.data, (Bytes{255, 0, 127}));
  EXPECT_EQ(frames.unshown.nans, 1U);
}

void check(std::vector<std::int64_t> shape, const VideoOptions& options) {
  static const Bytes kMemory(1);
  const std::vector<std::int64_t> strides(shape.size(), 0);
  detail::values::checkVideo(TensorView(kMemory.data(), std::move(shape), strides), options);
}

TEST(CheckVideo, AcceptsAWideVideo) {
  EXPECT_NO_THROW(check({1, 2, 1, 1, 70000}, {}));
}

TEST(CheckVideo, RejectsAnotherFormat) {
  VideoOptions options;
  for (const char* format : {"TCHW ", "NCHW", "NTCH", "NTTHW", "ntchw", ""}) {
    options.dataFormat = format;
    expectInvalidArgument(
        [&] {
          check({1, 2, 3, 4, 5}, options);
        },
        "got dataFormat = \"" + std::string(format) +
            "\"; expected the letters of \"NTCHW\", of which 'N' and 'C' may be "
            "left out, in any order");
  }
}

TEST(CheckVideo, RejectsNoFrames) {
  expectInvalidArgument(
      [] {
        check({1, 0, 3, 4, 5}, {});
      },
      "got shape (1, 0, 3, 4, 5); expected at least one pixel");
}

TEST(CheckVideo, RejectsTwoChannels) {
  expectInvalidArgument(
      [] {
        check({1, 2, 2, 4, 5}, {});
      },
      "got 2 channels in shape (1, 2, 2, 4, 5) with dataFormat \"NTCHW\"; expected 1, 3 or 4");
}

TEST(CheckVideo, RejectsAFrameRateThatNoPlayerHas) {
  VideoOptions options;
  for (const auto& [fps, text] : {std::pair{0.0, "0.000000"}, std::pair{-4.0, "-4.000000"},
                                  std::pair{1e9, "1000000000.000000"},
                                  std::pair{std::numeric_limits<double>::quiet_NaN(), "nan"}}) {
    options.fps = fps;
    expectInvalidArgument(
        [&] {
          check({1, 2, 3, 4, 5}, options);
        },
        "got fps = " + std::string(text) + "; expected 0.01 to 1000");
  }
}

class EncodeApng : public ::testing::TestWithParam<int> {};

TEST_P(EncodeApng, KeepsEveryPixel) {
  const detail::values::Frames frames = movingSquare(GetParam());
  EXPECT_EQ(play(detail::values::encodeApng(frames, 8)), split(frames));
}

INSTANTIATE_TEST_SUITE_P(AllChannels, EncodeApng, ::testing::Values(1, 3, 4));

TEST(EncodeApng, StoresWhatChangesOnly) {
  const std::vector<Chunk> controls =
      chunksOf(detail::values::encodeApng(movingSquare(3), 8), "fcTL");
  ASSERT_EQ(controls.size(), 5U);
  // Sequence number, width, height, left, top; PNG (Third Edition) 11.3.6.2.
  const auto numbers = [](const Chunk& chunk) {
    std::vector<std::uint32_t> five;
    for (std::size_t i = 0; i < 5; ++i) {
      five.push_back(bigEndian(chunk.data.substr(4 * i, 4)));
    }
    return five;
  };
  EXPECT_EQ(numbers(controls[0]), (std::vector<std::uint32_t>{0, 31, 23, 0, 0}));
  // The squares at (0, 0) and (3, 2), 6 pixels wide, lie within 9 x 8 pixels.
  EXPECT_EQ(numbers(controls[1]), (std::vector<std::uint32_t>{1, 9, 8, 0, 0}));
  EXPECT_EQ(numbers(controls[2]), (std::vector<std::uint32_t>{3, 9, 8, 3, 2}));
}

TEST(EncodeApng, FindsAChangeOfASingleByteAnywhere) {
  for (std::size_t byte = 0; byte < 3 * 4 * 3; ++byte) {
    detail::values::Frames frames{4, 3, 3, 2, Bytes(2 * 3 * 4 * 3, 9)};
    frames.data[3 * 4 * 3 + byte] = 10;
    EXPECT_EQ(play(detail::values::encodeApng(frames, 8)), split(frames)) << "byte " << byte;
  }
}

TEST(EncodeApng, KeepsAFrameEqualToThePreviousOne) {
  const std::string apng = detail::values::encodeApng(pixelVideo({7, 7, 8}), 8);
  EXPECT_EQ(play(apng), (std::vector<Bytes>{{7}, {7}, {8}}));
}

TEST(EncodeApng, CountsFramesAndRepeatsForEver) {
  const std::vector<Chunk> control =
      chunksOf(detail::values::encodeApng(pixelVideo({1, 2, 3}), 8), "acTL");
  ASSERT_EQ(control.size(), 1U);
  EXPECT_EQ(bigEndian(control[0].data.substr(0, 4)), 3U);
  EXPECT_EQ(bigEndian(control[0].data.substr(4)), 0U);
}

TEST(EncodeApng, NumbersFramesAndTheirDataInOneSequence) {
  std::vector<std::uint32_t> numbers;
  for (const Chunk& chunk : chunksOf(detail::values::encodeApng(pixelVideo({1, 2, 3}), 8))) {
    if (chunk.type == "fcTL" || chunk.type == "fdAT") {
      numbers.push_back(bigEndian(chunk.data.substr(0, 4)));
    }
  }
  EXPECT_EQ(numbers, (std::vector<std::uint32_t>{0, 1, 2, 3, 4}));
}

TEST(EncodeApng, GivesTimesAsExactFractions) {
  const auto delay = [](double fps) {
    const std::string control =
        chunksOf(detail::values::encodeApng(pixelVideo({1}), fps), "fcTL").at(0).data;
    return std::pair(bigEndian(control.substr(20, 2)), bigEndian(control.substr(22, 2)));
  };
  EXPECT_EQ(delay(8), std::pair(1U, 8U));
  EXPECT_EQ(delay(30000.0 / 1001), std::pair(1001U, 30000U));
  EXPECT_EQ(delay(0.5), std::pair(2U, 1U));
  EXPECT_EQ(delay(0.01), std::pair(100U, 1U));
  EXPECT_EQ(delay(1000), std::pair(1U, 1000U));
  EXPECT_EQ(delay(12.34), std::pair(50U, 617U));
}

TEST(EncodeApng, RejectsFramesThatAreNone) {
  expectInvalidArgument(
      [] {
        detail::values::encodeApng(detail::values::Frames{1, 1, 1, 0, {}}, 8);
      },
      "got 0 frames; expected at least 1");
  expectInvalidArgument(
      [] {
        detail::values::encodeApng(detail::values::Frames{2, 1, 1, 2, {1, 2, 3}}, 8);
      },
      "got 3 bytes; expected 2 for each of 2 frames");
  expectInvalidArgument([] { detail::values::encodeApng(pixelVideo({1}), 0); },
                        "got fps = 0.000000; expected 0.01 to 1000");
}

}  // namespace
}  // namespace steptape
