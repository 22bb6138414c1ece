// SPDX-License-Identifier: Apache-2.0
#include "base/sha256.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace steptape::detail::base {
namespace {

std::string hashOf(std::string_view bytes) {
  return hexadecimal(sha256(bytes));
}

std::string keyedHashOf(std::string_view key, std::string_view bytes) {
  return hexadecimal(hmacSha256(key, bytes));
}

TEST(Sha256, GivesTheExamplesOfTheStandard) {
  EXPECT_EQ(hashOf(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hashOf("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hashOf("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(
      hashOf("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopq"
             "klmnopqrlmnopqrsmnopqrstnopqrstu"),
      "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  EXPECT_EQ(hashOf(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/// Computed with Python's hashlib.
TEST(Sha256, PadsTextsThatEndNearTheEndOfABlock) {
  EXPECT_EQ(hashOf(std::string(55, 'a')),
            "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
  EXPECT_EQ(hashOf(std::string(56, 'a')),
            "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
  EXPECT_EQ(hashOf(std::string(63, 'a')),
            "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34");
  EXPECT_EQ(hashOf(std::string(64, 'a')),
            "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
  EXPECT_EQ(hashOf(std::string(65, 'a')),
            "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0");
  EXPECT_EQ(hashOf(std::string(119, 'a')),
            "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb");
  EXPECT_EQ(hashOf(std::string(120, 'a')),
            "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c");
}

TEST(Sha256, GivesTheSameForBytesInAnyPieces) {
  std::string bytes(200, '\0');
  std::uint32_t state = 1;
  for (char& byte : bytes) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<char>(state >> 24);
  }
  const std::string_view all = bytes;
  const Sha256Digest whole = sha256(all);
  for (std::size_t i = 0; i <= all.size(); ++i) {
    for (std::size_t j = i; j <= all.size(); ++j) {
      Sha256 hash;
      hash.update(all.substr(0, i));
      hash.update(all.substr(i, j - i));
      hash.update(all.substr(j));
      ASSERT_EQ(hash.finish(), whole)
          << "pieces of " << i << ", " << j - i << " and " << all.size() - j << " bytes";
    }
  }
}

TEST(HmacSha256, GivesTheVectorsOfRfc4231) {
  std::string ascending(25, '\0');
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    ascending[i] = static_cast<char>(i + 1);
  }
  const std::string longKey(131, '\xaa');
  EXPECT_EQ(keyedHashOf(std::string(20, '\x0b'), "Hi There"),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(keyedHashOf("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(keyedHashOf(std::string(20, '\xaa'), std::string(50, '\xdd')),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
  EXPECT_EQ(keyedHashOf(ascending, std::string(50, '\xcd')),
            "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b");
  EXPECT_EQ(keyedHashOf(longKey, "Test Using Larger Than Block-Size Key - Hash Key First"),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
  EXPECT_EQ(keyedHashOf(longKey,
                        "This is a test using a larger than block-size key and a larger than "
                        "block-size data. The key needs to be hashed before being used by the HMAC "
                        "algorithm."),
            "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
}

/// Computed with Python's hmac.
TEST(HmacSha256, HashesOnlyKeysThatAreLongerThanABlock) {
  EXPECT_EQ(keyedHashOf(std::string(64, 'k'), "text"),
            "0414bb1d8c0c4556cdb2028727b16610ae377b1a194b6db1f853d4297f2329bc");
  EXPECT_EQ(keyedHashOf(std::string(65, 'k'), "text"),
            "5b69580123e3d7e788b7e8352ac37a3247b911c5ec0837147b74109a6382d3f5");
}

}  // namespace
}  // namespace steptape::detail::base
