// SPDX-License-Identifier: Apache-2.0
#include "base/crc32c.h"

#include <numeric>
#include <ostream>
#include <string>

#include "base/crc32c_impl.h"

#include <gtest/gtest.h>

namespace steptape {
namespace detail::base {

// Google Test prints a parameter with this function.
std::ostream& operator<<(std::ostream& out, const Crc32cImplementation& implementation) {
  return out << implementation.name;
}

}  // namespace detail::base

namespace {

std::string pseudoRandomBytes(std::size_t size) {
  std::string bytes(size, '\0');
  std::uint32_t state = 1;
  for (char& byte : bytes) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<char>(state >> 24);
  }
  return bytes;
}

/// Computes the checksum bit by bit, directly from the definition.
std::uint32_t definition(std::string_view bytes) {
  std::uint32_t state = ~std::uint32_t{0};
  for (const char byte : bytes) {
    state ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) {
      state = (state >> 1) ^ ((state & 1) != 0 ? 0x82f63b78 : 0);
    }
  }
  return ~state;
}

class Crc32cImplementations : public ::testing::TestWithParam<detail::base::Crc32cImplementation> {
 protected:
  std::uint32_t crc(std::string_view bytes) const { return extended(0, bytes); }
  std::uint32_t extended(std::uint32_t crc, std::string_view bytes) const {
    return GetParam().extend(crc, bytes.data(), bytes.size());
  }
};

TEST_P(Crc32cImplementations, GiveTheVectorsOfRfc3720) {
  std::string ascending(32, '\0');
  std::iota(ascending.begin(), ascending.end(), '\0');
  const std::string descending(ascending.rbegin(), ascending.rend());

  EXPECT_EQ(crc(std::string(32, '\0')), 0x8a9136aa);
  EXPECT_EQ(crc(std::string(32, '\xff')), 0x62a8ab43);
  EXPECT_EQ(crc(ascending), 0x46dd794e);
  EXPECT_EQ(crc(descending), 0x113fdb5c);
}

TEST_P(Crc32cImplementations, GiveTheCheckValueOfTheCatalog) {
  EXPECT_EQ(crc("123456789"), 0xe3069283);
}

TEST_P(Crc32cImplementations, GiveZeroForNoBytes) {
  EXPECT_EQ(crc(""), 0u);
}

TEST_P(Crc32cImplementations, FollowTheDefinitionAtEveryLengthAndAlignment) {
  const std::string bytes = pseudoRandomBytes(1000);
  for (std::size_t start = 0; start < 8; ++start) {
    for (std::size_t size = 0; start + size <= bytes.size(); ++size) {
      const auto part = std::string_view(bytes).substr(start, size);
      ASSERT_EQ(crc(part), definition(part)) << size << " bytes from " << start;
    }
  }
}

TEST_P(Crc32cImplementations, FollowTheDefinitionAroundTheLongBlocks) {
  const std::string bytes = pseudoRandomBytes(20'000);
  for (const std::size_t size : {6143u, 6144u, 6145u, 6527u, 6528u, 12'288u, 20'000u}) {
    const auto part = std::string_view(bytes).substr(0, size);
    EXPECT_EQ(crc(part), definition(part)) << size << " bytes";
  }
}

TEST_P(Crc32cImplementations, DoNotDependOnWhereTheInputIsSplit) {
  const std::string bytes = pseudoRandomBytes(700);
  const std::uint32_t whole = crc(bytes);
  for (std::size_t i = 0; i <= bytes.size(); ++i) {
    const auto head = std::string_view(bytes).substr(0, i);
    const auto tail = std::string_view(bytes).substr(i);
    ASSERT_EQ(extended(crc(head), tail), whole) << "split at " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Portable, Crc32cImplementations,
                         ::testing::Values(detail::base::portableCrc32c()));

// Empty if the processor has no CRC instructions.
std::vector<detail::base::Crc32cImplementation> hardwareImplementations() {
  const auto hardware = detail::base::hardwareCrc32c();
  return hardware.extend != nullptr ? std::vector{hardware}
                                    : std::vector<detail::base::Crc32cImplementation>();
}
INSTANTIATE_TEST_SUITE_P(Hardware, Crc32cImplementations,
                         ::testing::ValuesIn(hardwareImplementations()));
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Crc32cImplementations);

TEST(Crc32c, OfPiecesIsExtended) {
  EXPECT_EQ(extend(detail::base::crc32c("12345"), "6789"), detail::base::crc32c("123456789"));
  EXPECT_EQ(extend(detail::base::Crc32c(), "123456789"), detail::base::Crc32c(0xe3069283));
}

TEST(Crc32c, DiffersForDifferentBytes) {
  EXPECT_NE(detail::base::crc32c("loss"), detail::base::crc32c("lost"));
}

TEST(Crc32c, PrintsEightHexadecimalDigits) {
  EXPECT_EQ(detail::base::Crc32c(0x8a9136aa).toString(), "0x8a9136aa");
}

// @source tensorboard/data/server/masked_crc.rs
}  // namespace
}  // namespace steptape
