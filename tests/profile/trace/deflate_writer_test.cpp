// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/deflate/deflate_writer.h"

#include <algorithm>
#include <random>
#include <string>

#include "profile/trace/deflate/deflate_code.h"

#include <gtest/gtest.h>
#include <zlib.h>

namespace steptape::detail::profile {
namespace {

/// What zlib makes of a stream without a header.
std::string inflated(std::string_view bytes, std::size_t size) {
  z_stream stream = {};
  EXPECT_EQ(inflateInit2(&stream, -MAX_WBITS), Z_OK);
  std::string text(size + 1, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END)
      << (stream.msg != nullptr ? stream.msg : "no words");
  EXPECT_EQ(stream.avail_in, 0u);
  text.resize(stream.total_out);
  inflateEnd(&stream);
  return text;
}

/// A stream and the text that it is to give.
class Stream {
 public:
  void literals(const std::string& text) {
    writer_.literals(text);
    text_ += text;
  }
  void match(std::size_t length, std::size_t distance) {
    writer_.match(length, distance);
    for (; length > 0; --length) {
      text_ += text_[text_.size() - distance];
    }
  }
  std::size_t size() const { return text_.size(); }

  void expectInflates() {
    writer_.finish();
    bytes_ += writer_.bytes();
    EXPECT_TRUE(inflated(bytes_, text_.size()) == text_);
  }
  void takeBytes() {
    bytes_ += writer_.bytes();
    writer_.clear();
  }

 private:
  DeflateWriter writer_{kChromeTraceCode};
  std::string text_;
  std::string bytes_;
};

TEST(DeflateWriter, WritesAnEmptyStream) {
  Stream().expectInflates();
}

TEST(DeflateWriter, WritesEveryByteAsALiteral) {
  Stream stream;
  for (int byte = 0; byte < 256; ++byte) {
    stream.literals(std::string(1, static_cast<char>(byte)));
  }
  stream.expectInflates();
}

TEST(DeflateWriter, WritesMatchesOfEveryLength) {
  Stream stream;
  stream.literals("0123456789");
  for (std::size_t length = kMinMatchLength; length <= 4 * kMaxMatchLength; ++length) {
    stream.match(length, 7);
    stream.literals(length % 2 == 0 ? "x" : "yz");
  }
  stream.expectInflates();
}

TEST(DeflateWriter, WritesMatchesOfEveryDistance) {
  Stream stream;
  std::mt19937 random(1);
  while (stream.size() < kMaxMatchDistance) {
    stream.literals(std::string(1, static_cast<char>('0' + random() % 10)));
  }
  for (std::size_t distance = 1; distance <= kMaxMatchDistance; ++distance) {
    stream.match(5, distance);
  }
  stream.expectInflates();
}

TEST(DeflateWriter, GoesOnAfterItsBytesWereTaken) {
  Stream stream;
  stream.literals("abc");
  for (int i = 0; i < 1000; ++i) {
    stream.literals(std::to_string(i));
    stream.match(3, 3);
    stream.takeBytes();
  }
  stream.expectInflates();
}

TEST(DeflateWriter, WritesAnyMixtureOfBoth) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    Stream stream;
    stream.literals("abc");
    for (int i = 0; i < 500; ++i) {
      if (random() % 2 == 0) {
        std::string text(random() % 20, '\0');
        for (char& c : text) {
          c = static_cast<char>(random());
        }
        stream.literals(text);
      } else {
        stream.match(kMinMatchLength + random() % 600,
                     1 + random() % std::min(stream.size(), kMaxMatchDistance));
      }
    }
    stream.expectInflates();
    ASSERT_FALSE(::testing::Test::HasFailure()) << "seed " << seed;
  }
}

/// The share of all bits that the codes of these lengths take, in 1 / 2^15.
template <typename Bits>
std::size_t shareOf(const Bits& lengths) {
  std::size_t share = 0;
  for (const std::uint8_t bits : lengths) {
    share += std::size_t{1} << (15 - bits);
  }
  return share;
}

TEST(DeflateCode, LeavesNoBitsUnused) {
  // A prefix code is complete if the shares of all codes make a whole; zlib refuses any other.
  constexpr std::size_t kWhole = std::size_t{1} << 15;
  EXPECT_EQ(shareOf(kChromeLiteralBits), kWhole);
  EXPECT_EQ(shareOf(kChromeDistanceBits), kWhole);
  EXPECT_EQ(shareOf(kPerfettoLiteralBits), kWhole);
  EXPECT_EQ(shareOf(kPerfettoDistanceBits), kWhole);
}

}  // namespace
}  // namespace steptape::detail::profile
