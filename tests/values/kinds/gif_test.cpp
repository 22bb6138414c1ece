// SPDX-License-Identifier: Apache-2.0
#include <random>
#include <set>
#include <string>
#include <string_view>

#include "support/expect_error.h"
#include "values/kinds/video/video.h"

namespace steptape {
namespace {

using test::expectInvalidArgument;
using Bytes = std::vector<std::uint8_t>;

struct GifFrame {
  int delay = 0;  ///< Hundredths of a second.
  int disposal = 0;
  int transparent = -1;
  int left = 0;
  int top = 0;
  int width = 0;
  int height = 0;
  std::size_t colors = 0;
  Bytes shown;  ///< The complete image, RGB, as a player shows it; transparent pixels are 1, 2, 3.
};

/// Reads a GIF according to its specification, in the simplest way: each code's string is stored as
/// a string.
class GifReader {
 public:
  explicit GifReader(std::string gif) : gif_(std::move(gif)) {
    EXPECT_EQ(text(6), "GIF89a");
    width_ = number();
    height_ = number();
    EXPECT_EQ(byte(), 0) << "a global table of colors";
    at_ += 2;
    const std::size_t area = static_cast<std::size_t>(width_) * height_;
    for (std::size_t i = 0; i < area; ++i) {
      canvas_.insert(canvas_.end(), {1, 2, 3});
    }
    readBlocks();
    EXPECT_EQ(at_, gif_.size()) << "something follows the trailer";
  }

  const std::vector<GifFrame>& frames() const { return frames_; }
  bool repeatsForEver() const { return repeatsForEver_; }

 private:
  int byte() { return static_cast<std::uint8_t>(gif_.at(at_++)); }
  int number() {
    const int low = byte();
    return low | byte() << 8;
  }
  std::string text(std::size_t count) {
    at_ += count;
    return gif_.substr(at_ - count, count);
  }
  std::string blocks() {
    std::string data;
    while (const int count = byte()) {
      data += text(static_cast<std::size_t>(count));
    }
    return data;
  }

  void readBlocks() {
    GifFrame frame;
    for (int kind = byte(); kind != 0x3B; kind = byte()) {
      if (kind == 0x2C) {
        readImage(&frame);
        frames_.push_back(frame);
        continue;
      }
      ASSERT_EQ(kind, 0x21);
      if (byte() == 0xF9) {
        EXPECT_EQ(byte(), 4);
        const int flags = byte();
        frame.disposal = flags >> 2 & 7;
        frame.delay = number();
        const int transparent = byte();
        frame.transparent = (flags & 1) != 0 ? transparent : -1;
        EXPECT_EQ(byte(), 0);
      } else {
        using namespace std::string_view_literals;
        repeatsForEver_ = blocks() == "NETSCAPE2.0\x01\0\0"sv;
      }
    }
  }

  void readImage(GifFrame* frame) {
    frame->left = number();
    frame->top = number();
    frame->width = number();
    frame->height = number();
    const int flags = byte();
    EXPECT_EQ(flags & 0x80, 0x80);
    frame->colors = std::size_t{2} << (flags & 7);
    const std::string palette = text(3 * frame->colors);
    const int bits = byte();
    const Bytes indices = decompress(blocks(), bits);
    ASSERT_EQ(indices.size(), static_cast<std::size_t>(frame->width) * frame->height);
    Bytes shown = canvas_;
    for (std::size_t i = 0; i < indices.size(); ++i) {
      if (indices[i] != frame->transparent) {
        const std::size_t x = frame->left + i % frame->width;
        const std::size_t y = frame->top + i / frame->width;
        palette.copy(reinterpret_cast<char*>(&shown.at((y * width_ + x) * 3)), 3,
                     std::size_t{3} * indices[i]);
      }
    }
    frame->shown = shown;
    if (frame->disposal == 1) {
      canvas_ = shown;
    }
  }

  static Bytes decompress(const std::string& data, int bits) {
    const std::size_t clear = std::size_t{1} << bits;
    Bytes out;
    std::vector<std::string> table;
    std::string before;
    int codeBits = bits + 1;
    std::size_t bit = 0;
    while (bit + codeBits <= data.size() * 8) {
      std::size_t code = 0;
      for (int i = 0; i < codeBits; ++i, ++bit) {
        code |= static_cast<std::size_t>(data[bit / 8] >> (bit % 8) & 1) << i;
      }
      if (code == clear) {
        table.clear();
        for (std::size_t i = 0; i < clear + 2; ++i) {
          table.push_back(i < clear ? std::string(1, static_cast<char>(i)) : "");
        }
        codeBits = bits + 1;
        before.clear();
        continue;
      }
      if (code == clear + 1) {
        return out;
      }
      if (!before.empty() && table.size() < 4096) {
        const std::string& known = code < table.size() ? table[code] : before;
        table.push_back(before + known[0]);
      }
      before = table.at(code);
      out.insert(out.end(), before.begin(), before.end());
      if (table.size() == std::size_t{1} << codeBits && codeBits < 12) {
        ++codeBits;
      }
    }
    ADD_FAILURE() << "the data has no end code";
    return out;
  }

  std::string gif_;
  std::size_t at_ = 0;
  int width_ = 0;
  int height_ = 0;
  Bytes canvas_;
  std::vector<GifFrame> frames_;
  bool repeatsForEver_ = false;
};

std::vector<GifFrame> framesOf(const detail::values::Frames& frames, double fps = 10) {
  return GifReader(detail::values::encodeGif(frames, fps)).frames();
}

detail::values::Frames blank(int width, int height, int channels, std::int64_t count) {
  detail::values::Frames frames{width, height, channels, count, {}};
  frames.data.resize(static_cast<std::size_t>(count) * width * height * channels);
  return frames;
}

TEST(EncodeGif, RepeatsForEver) {
  EXPECT_TRUE(GifReader(detail::values::encodeGif(blank(3, 2, 3, 2), 8)).repeatsForEver());
}

TEST(EncodeGif, KeepsUpTo256ColorsExactly) {
  detail::values::Frames frames = blank(16, 16, 3, 1);
  for (std::size_t i = 0; i < 256; ++i) {
    frames.data[3 * i] = static_cast<std::uint8_t>(i);
    frames.data[3 * i + 1] = static_cast<std::uint8_t>(i * 7);
    frames.data[3 * i + 2] = static_cast<std::uint8_t>(255 - i);
  }
  EXPECT_EQ(framesOf(frames).at(0).shown, frames.data);
}

TEST(EncodeGif, KeepsEveryGray) {
  detail::values::Frames frames = blank(32, 8, 1, 1);
  Bytes wanted;
  for (std::size_t i = 0; i < 256; ++i) {
    frames.data[i] = static_cast<std::uint8_t>(i);
    wanted.insert(wanted.end(), 3, static_cast<std::uint8_t>(i));
  }
  EXPECT_EQ(framesOf(frames).at(0).shown, wanted);
}

TEST(EncodeGif, HasATableNoLargerThanItsColors) {
  EXPECT_EQ(framesOf(blank(3, 2, 3, 1)).at(0).colors, 4U);
  detail::values::Frames frames = blank(5, 1, 1, 1);
  frames.data = {1, 2, 3, 4, 5};
  EXPECT_EQ(framesOf(frames).at(0).colors, 8U);
}

// More strings than the table of 4096 codes holds: the encoder must restart several times.
TEST(EncodeGif, KeepsNoiseThatOverflowsTheTable) {
  detail::values::Frames frames = blank(200, 200, 1, 1);
  std::mt19937 random(3);
  Bytes wanted;
  for (std::uint8_t& byte : frames.data) {
    byte = static_cast<std::uint8_t>(random());
    wanted.insert(wanted.end(), 3, byte);
  }
  EXPECT_TRUE(framesOf(frames).at(0).shown == wanted) << "the pixels differ";
}

// The data ends once after every length of a run, and with every width of codes.
TEST(EncodeGif, EndsAtAnyNumberOfPixels) {
  for (int width = 1; width < 700; width += 3) {
    detail::values::Frames frames = blank(width, 1, 1, 1);
    for (int x = 0; x < width; ++x) {
      frames.data[static_cast<std::size_t>(x)] = static_cast<std::uint8_t>(x * x % 3);
    }
    Bytes wanted;
    for (const std::uint8_t byte : frames.data) {
      wanted.insert(wanted.end(), 3, byte);
    }
    EXPECT_EQ(framesOf(frames).at(0).shown, wanted) << width << " pixels";
  }
}

TEST(EncodeGif, JoinsColorsThatAreNear) {
  detail::values::Frames frames = blank(64, 64, 3, 1);
  for (std::size_t i = 0; i < 64 * 64; ++i) {
    frames.data[3 * i] = static_cast<std::uint8_t>(i % 64 * 4);
    frames.data[3 * i + 1] = static_cast<std::uint8_t>(i / 64 * 4);
    frames.data[3 * i + 2] = 50;
  }
  const Bytes shown = framesOf(frames).at(0).shown;
  std::set<std::vector<std::uint8_t>> colors;
  double error = 0;
  for (std::size_t i = 0; i < shown.size(); i += 3) {
    colors.insert({shown[i], shown[i + 1], shown[i + 2]});
    for (std::size_t c = 0; c < 3; ++c) {
      error = std::max(error, std::abs(static_cast<double>(shown[i + c]) - frames.data[i + c]));
    }
  }
  EXPECT_EQ(colors.size(), 256U);
  // 256 colors on a square of 256 x 256 shades are 16 apart.
  EXPECT_LE(error, 16);
}

TEST(EncodeGif, StoresWhatChangesOnly) {
  detail::values::Frames frames = blank(8, 6, 3, 2);
  Bytes second(frames.data.begin() + 8 * 6 * 3, frames.data.end());
  for (const std::size_t pixel : {2 * 8 + 3, 4 * 8 + 5}) {
    frames.data[(8 * 6 + pixel) * 3] = 200;
    second[pixel * 3] = 200;
  }
  const GifFrame frame = framesOf(frames).at(1);
  EXPECT_EQ(frame.left, 3);
  EXPECT_EQ(frame.top, 2);
  EXPECT_EQ(frame.width, 3);
  EXPECT_EQ(frame.height, 3);
  EXPECT_EQ(frame.shown, second);
}

TEST(EncodeGif, RoundsTimesWithoutDrift) {
  std::vector<int> delays;
  for (const GifFrame& frame : framesOf(blank(1, 1, 1, 6), 8)) {
    delays.push_back(frame.delay);
  }
  EXPECT_EQ(delays, (std::vector<int>{13, 12, 13, 12, 13, 12}));
  int total = 0;
  for (const GifFrame& frame : framesOf(blank(1, 1, 1, 30), 30)) {
    total += frame.delay;
  }
  EXPECT_EQ(total, 100);
}

TEST(EncodeGif, CutsAlphaToTransparentOrOpaque) {
  detail::values::Frames frames = blank(2, 1, 4, 2);
  frames.data = {10, 20, 30, 255, 40, 50, 60, 127, 10, 20, 30, 0, 40, 50, 60, 128};
  const std::vector<GifFrame> shown = framesOf(frames);
  EXPECT_EQ(shown.at(0).shown, (Bytes{10, 20, 30, 1, 2, 3}));
  EXPECT_EQ(shown.at(1).shown, (Bytes{1, 2, 3, 40, 50, 60}));
}

TEST(EncodeGif, RejectsAnImageThatIsTooWide) {
  detail::values::Frames frames{65536, 1, 1, 1, Bytes(65536)};
  expectInvalidArgument([&] { detail::values::encodeGif(frames, 8); },
                        "got a GIF of 65536 x 1 pixels; expected at most 65535 pixels to a side");
}

}  // namespace
}  // namespace steptape
