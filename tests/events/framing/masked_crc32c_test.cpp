// SPDX-License-Identifier: Apache-2.0
#include "events/framing/masked_crc32c.h"

#include <gtest/gtest.h>

namespace steptape {
namespace {

TEST(MaskedCrc32c, PrintsEightHexadecimalDigits) {
  EXPECT_EQ(MaskedCrc32c(0x123).toString(), "0x00000123");
}

TEST(MaskedCrc32c, OfTensorBoardsTestStringIsTheSame) {
  EXPECT_EQ(maskedCrc32c("\x1a\x11"
                         "CRC test, one two"),
            MaskedCrc32c(0x5794d08a));
}

TEST(MaskedCrc32c, OfALengthIsWhatTensorFlowWrote) {
  EXPECT_EQ(maskedCrc32c({"\x18\0\0\0\0\0\0\0", 8}), MaskedCrc32c(0x224b7fa3));
}

TEST(MaskedCrc32c, UnmasksToTheSameChecksum) {
  for (const std::uint32_t value : {0u, 1u, 0x8a9136aau, 0xffffffffu}) {
    EXPECT_EQ(MaskedCrc32c::mask(Crc32c(value)).unmask(), Crc32c(value));
  }
}

}  // namespace
}  // namespace steptape
