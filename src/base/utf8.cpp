// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"

#include <cstddef>

namespace steptape::detail::base {
namespace {

// The bytes of one character, or those that one U+FFFD replaces.
struct Sequence {
  std::size_t length;
  bool isValid;
};

// The continuation bytes of a character. Only the second byte has a separate range.
struct Continuation {
  std::size_t bytes;  // 0: no character starts with this byte
  unsigned char secondMin = 0x80;
  unsigned char secondMax = 0xbf;
};

Continuation continuationOf(unsigned char first) {
  switch (first) {
    case 0xe0:
      return {2, 0xa0, 0xbf};  // a smaller byte would be an overlong form
    case 0xed:
      return {2, 0x80, 0x9f};  // a larger byte would be a surrogate
    case 0xf0:
      return {3, 0x90, 0xbf};  // a smaller byte would be an overlong form
    case 0xf4:
      return {3, 0x80, 0x8f};  // a larger byte would exceed U+10FFFF
    default:
      break;
  }
  if (first >= 0xc2 && first <= 0xdf) {
    return {1};
  }
  if (first >= 0xe1 && first <= 0xef) {
    return {2};
  }
  if (first >= 0xf1 && first <= 0xf3) {
    return {3};
  }
  return {0};
}

// REQUIRES: !text.empty()
Sequence firstSequence(std::string_view text) {
  const auto byteAt = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byteAt(0) < 0x80) {
    return {1, true};
  }
  const Continuation continuation = continuationOf(byteAt(0));
  std::size_t length = 1;
  while (length <= continuation.bytes && length < text.size()) {
    const unsigned char min = length == 1 ? continuation.secondMin : 0x80;
    const unsigned char max = length == 1 ? continuation.secondMax : 0xbf;
    if (byteAt(length) < min || byteAt(length) > max) {
      break;
    }
    ++length;
  }
  return {length, continuation.bytes > 0 && length == continuation.bytes + 1};
}

}  // namespace

bool isValidUtf8(std::string_view text) {
  while (!text.empty()) {
    const Sequence sequence = firstSequence(text);
    if (!sequence.isValid) {
      return false;
    }
    text.remove_prefix(sequence.length);
  }
  return true;
}

std::string replaceInvalidUtf8(std::string_view text) {
  std::string replaced;
  replaced.reserve(text.size());
  while (!text.empty()) {
    const Sequence sequence = firstSequence(text);
    replaced.append(sequence.isValid ? text.substr(0, sequence.length) : "\xef\xbf\xbd");
    text.remove_prefix(sequence.length);
  }
  return replaced;
}

}  // namespace steptape::detail::base
