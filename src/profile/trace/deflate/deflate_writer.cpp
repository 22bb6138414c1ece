// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/deflate/deflate_writer.h"

namespace steptape::detail::profile {
namespace {

/// Returns the code of a code length: four bits, the highest first.
BitCode lengthOf(BitCode symbol) {
  const std::uint32_t n = symbol.count;
  return {(n & 1) << 3 | (n & 2) << 1 | (n & 4) >> 1 | n >> 3, 4};
}

}  // namespace

DeflateWriter::DeflateWriter(const DeflateCode& code) : code_(code) {
  Cursor cursor = cursorWithRoom(512);
  constexpr BitCode kFinalDynamicBlock = {0b101, 3};
  cursor.put(kFinalDynamicBlock);
  cursor.put({kLiteralSymbols - kFirstLengthSymbol, 5});
  cursor.put({kDistanceSymbols - 1, 5});
  // All 19 symbols of code lengths, starting with the three for runs, which are not used.
  cursor.put({19 - 4, 4});
  cursor.put({0, 9});
  cursor.store();
  for (int symbol = 3; symbol < 19; ++symbol) {
    cursor.put({4, 3});
    cursor.store();
  }
  for (const BitCode symbol : code_.literals) {
    cursor.put(lengthOf(symbol));
    cursor.store();
  }
  for (const BitCode symbol : code_.distances) {
    cursor.put(lengthOf(symbol));
    cursor.store();
  }
  at_ = cursor;
}

void DeflateWriter::finish() {
  Cursor cursor = cursorWithRoom(8);
  cursor.put(code_.literals[kEndOfBlock]);
  cursor.count = (cursor.count + 7) / 8 * 8;
  cursor.store();
  at_ = cursor;
}

void DeflateWriter::grow(std::size_t bytes) {
  const std::size_t used = this->bytes().size();
  buffer_.resize(2 * (used + bytes));
  at_.out = buffer_.data() + used;
  end_ = buffer_.data() + buffer_.size();
}

}  // namespace steptape::detail::profile
