// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/deflate/crc32.h"

#include <random>
#include <string>

#include <gtest/gtest.h>
#include <zlib.h>

namespace steptape::detail::profile {
namespace {

std::uint32_t byZlib(std::uint32_t crc, const std::string& bytes) {
  return static_cast<std::uint32_t>(
      ::crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::string randomBytes(std::size_t size) {
  std::mt19937 random(1);
  std::string bytes(size, '\0');
  for (char& byte : bytes) {
    byte = static_cast<char>(random());
  }
  return bytes;
}

TEST(Crc32, GivesTheCheckValueOfTheCatalog) {
  EXPECT_EQ(extendCrc32(0, "123456789", 9), 0xcbf43926);
}

TEST(Crc32, EqualsZlibAtEveryLengthAndAlignment) {
  const std::string bytes = randomBytes(700);
  for (std::size_t start = 0; start < 16; ++start) {
    for (std::size_t size = 0; start + size <= bytes.size(); ++size) {
      ASSERT_EQ(extendCrc32(0, bytes.data() + start, size), byZlib(0, bytes.substr(start, size)))
          << size << " bytes from " << start;
    }
  }
}

TEST(Crc32, ContinuesFromAPreviousValue) {
  const std::string bytes = randomBytes(100'000);
  const std::uint32_t whole = byZlib(0, bytes);
  for (const std::size_t cut : {0u, 1u, 63u, 64u, 65u, 4096u, 99'999u, 100'000u}) {
    const std::uint32_t first = extendCrc32(0, bytes.data(), cut);
    EXPECT_EQ(extendCrc32(first, bytes.data() + cut, bytes.size() - cut), whole) << cut;
  }
}

}  // namespace
}  // namespace steptape::detail::profile
