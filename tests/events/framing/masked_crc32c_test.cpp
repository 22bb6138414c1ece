// SPDX-License-Identifier: Apache-2.0
#include "events/framing/masked_crc32c.h"

#include <gtest/gtest.h>

namespace steptape {
namespace {

TEST(MaskedCrc32c, PrintsEightHexadecimalDigits) {
  EXPECT_EQ(detail::events::MaskedCrc32c(0x123).toString(), "0x00000123");
}

TEST(MaskedCrc32c, OfTensorBoardsTestStringIsTheSame) {
  EXPECT_EQ(detail::events::maskedCrc32c("\x1a\x11"
                                         "CRC test, one two"),
            detail::events::MaskedCrc32c(0x5794d08a));
}

TEST(MaskedCrc32c, OfALengthIsWhatTensorFlowWrote) {
  EXPECT_EQ(detail::events::maskedCrc32c({"\x18\0\0\0\0\0\0\0", 8}),
            detail::events::MaskedCrc32c(0x224b7fa3));
}

TEST(MaskedCrc32c, UnmasksToTheSameChecksum) {
  for (const std::uint32_t value : {0u, 1u, 0x8a9136aau, 0xffffffffu}) {
    EXPECT_EQ(detail::events::MaskedCrc32c::mask(detail::base::Crc32c(value)).unmask(),
              detail::base::Crc32c(value));
  }
}

}  // namespace
}  // namespace steptape
