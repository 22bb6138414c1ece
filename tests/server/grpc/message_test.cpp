// SPDX-License-Identifier: Apache-2.0
#include "server/grpc/message.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace steptape::detail::server {
namespace {

using ::testing::ElementsAre;

/// Takes everything in parts of at most `most` bytes.
std::vector<std::string> partsOf(Message message, std::size_t most) {
  std::vector<std::string> parts;
  while (message.size() > 0) {
    std::string& part = parts.emplace_back(most, '-');
    part.resize(message.take(part.data(), most));
  }
  return parts;
}

TEST(MessageTest, GivesThePiecesInTheirOrderInPartsOfAnySize) {
  Message message;
  message.append("abc");
  message.append("");
  message.append("defg");
  message.prepend("01");
  EXPECT_EQ(message.size(), 9U);
  EXPECT_THAT(partsOf(message, 100), ElementsAre("01abcdefg"));
  EXPECT_THAT(partsOf(message, 4), ElementsAre("01ab", "cdef", "g"));
  EXPECT_THAT(partsOf(message, 1), ElementsAre("0", "1", "a", "b", "c", "d", "e", "f", "g"));
}

TEST(MessageTest, TellsWhatIsLeftAndTakesMore) {
  Message message;
  message.append("abc");
  std::string out(2, '-');
  EXPECT_EQ(message.take(out.data(), 2), 2U);
  EXPECT_EQ(message.size(), 1U);
  message.append("de");
  EXPECT_THAT(partsOf(message, 100), ElementsAre("cde"));
}

TEST(MessageTest, IsEmptyAtFirst) {
  Message message;
  char out = '-';
  EXPECT_EQ(message.size(), 0U);
  EXPECT_EQ(message.take(&out, 1), 0U);
  EXPECT_EQ(out, '-');
}

}  // namespace
}  // namespace steptape::detail::server
