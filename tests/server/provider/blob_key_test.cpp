// SPDX-License-Identifier: Apache-2.0
#include "server/provider/blob_key.h"

#include <cstdint>
#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::detail::server {
namespace {

std::string everyByte() {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) {
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

void expectKept(const BlobPlace& place) {
  const std::string key = blobKeyOf(place);
  EXPECT_EQ(key.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789-_"),
            std::string::npos)
      << key;
  const auto found = blobPlaceOf(key);
  ASSERT_TRUE(found.has_value()) << key;
  EXPECT_EQ(found->run, place.run);
  EXPECT_EQ(found->tag, place.tag);
  EXPECT_EQ(found->step, place.step);
  EXPECT_EQ(found->index, place.index);
}

TEST(BlobKey, NamesAPlace) {
  expectKept({"train/run 1", "images/sample", 100, 3});
  expectKept({".", "__run_graph__", 0, 0});
  expectKept({"", "", 0, 0});
}

TEST(BlobKey, KeepsNamesOfAnyBytes) {
  const std::string bytes = everyByte();
  expectKept({bytes, bytes + bytes, 1, 1});
  for (std::size_t size = 0; size < 20; ++size) {
    expectKept({bytes.substr(250 - size, size), bytes.substr(0, size), 1, 1});
  }
  expectKept({"5\n", "\n7\n", 1, 1});
}

TEST(BlobKey, KeepsEveryStepAndIndex) {
  expectKept({"r", "t", std::numeric_limits<std::int64_t>::min(), 0});
  expectKept({"r", "t", std::numeric_limits<std::int64_t>::max(),
              std::numeric_limits<std::size_t>::max()});
}

TEST(BlobKey, IsDifferentForDifferentPlaces) {
  EXPECT_NE(blobKeyOf({"a", "bc", 1, 1}), blobKeyOf({"ab", "c", 1, 1}));
  EXPECT_NE(blobKeyOf({"a", "b", 1, 11}), blobKeyOf({"a", "b", 11, 1}));
}

TEST(BlobKey, RejectsTextThatIsNoKey) {
  for (const char* key : {"", "A", "a key", "!!!!", "bm90IGEga2V5", "MQox", "MQoxCjk5OQpyCg=="}) {
    EXPECT_FALSE(blobPlaceOf(key).has_value()) << key;
  }
  EXPECT_FALSE(blobPlaceOf(everyByte()).has_value());
}

TEST(BlobKey, NeverReadsBeyondAChangedKey) {
  const std::string key = blobKeyOf({"train", "images", 12, 3});
  for (std::size_t size = 0; size < key.size(); ++size) {
    const auto place = blobPlaceOf(key.substr(0, size));
    if (place) {
      EXPECT_LT(place->tag.size(), 6U);
    }
  }
  for (std::size_t at = 0; at < key.size(); ++at) {
    for (const char digit : std::string("AZaz09-_")) {
      std::string changed = key;
      changed[at] = digit;
      const auto place = blobPlaceOf(changed);
      if (place) {
        EXPECT_LE(place->run.size() + place->tag.size(), 11U + 8U);
      }
    }
  }
}

}  // namespace
}  // namespace steptape::detail::server
