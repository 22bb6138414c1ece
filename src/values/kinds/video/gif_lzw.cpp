// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/video/gif_lzw.h"

#include <array>

namespace steptape::detail::values {
namespace {

constexpr int kMaxCodeBits = 12;
constexpr std::uint32_t kMaxCodes = 1U << kMaxCodeBits;

/// Packs codes, lowest bit first, into blocks of up to 255 bytes that start with their length.
class BlockWriter {
 public:
  explicit BlockWriter(std::string* gif) : gif_(gif) {}

  void add(std::uint32_t code, int bits) {
    pending_ |= code << pendingBits_;
    pendingBits_ += bits;
    while (pendingBits_ >= 8) {
      addByte(static_cast<char>(pending_ & 0xFF));
      pending_ >>= 8;
      pendingBits_ -= 8;
    }
  }

  void finish() {
    if (pendingBits_ > 0) {
      addByte(static_cast<char>(pending_));
    }
    endBlock();
    *gif_ += '\0';
  }

 private:
  static constexpr std::size_t kMaxBlock = 255;

  void addByte(char byte) {
    block_ += byte;
    if (block_.size() == kMaxBlock) {
      endBlock();
    }
  }

  void endBlock() {
    if (!block_.empty()) {
      *gif_ += static_cast<char>(block_.size());
      *gif_ += block_;
      block_.clear();
    }
  }

  std::string* gif_;
  std::string block_;
  std::uint32_t pending_ = 0;
  int pendingBits_ = 0;
};

/// Maps each known string of colors, as the code of its prefix and its last color, to its code.
class StringTable {
 public:
  static constexpr std::uint32_t kUnknown = 0;  // the code of a color, never of a longer string

  StringTable() { clear(); }

  void clear() { slots_.fill({kEmpty, kUnknown}); }

  std::uint32_t find(std::uint32_t prefix, std::uint8_t last) const {
    const Slot& slot = slots_[place(prefix << 8 | last)];
    return slot.key == kEmpty ? kUnknown : slot.code;
  }

  void insert(std::uint32_t prefix, std::uint8_t last, std::uint32_t code) {
    const std::uint32_t key = prefix << 8 | last;
    slots_[place(key)] = {key, code};
  }

 private:
  struct Slot {
    std::uint32_t key;
    std::uint32_t code;
  };
  static constexpr int kSlotBits = 13;  // twice as many slots as codes
  static constexpr std::uint32_t kEmpty = UINT32_MAX;

  /// Returns the slot of `key`, or the slot in which to insert it.
  std::size_t place(std::uint32_t key) const {
    constexpr std::uint32_t kGoldenRatio = 0x9E3779B1;
    std::size_t slot = (key * kGoldenRatio) >> (32 - kSlotBits);
    while (slots_[slot].key != kEmpty && slots_[slot].key != key) {
      slot = (slot + 1) & ((std::size_t{1} << kSlotBits) - 1);
    }
    return slot;
  }

  std::array<Slot, std::size_t{1} << kSlotBits> slots_;
};

}  // namespace

void appendGifLzw(const std::vector<std::uint8_t>& indices, int bits, std::string* gif) {
  const std::uint32_t clearCode = 1U << bits;
  const std::uint32_t endCode = clearCode + 1;
  const std::uint32_t firstCode = clearCode + 2;
  *gif += static_cast<char>(bits);
  BlockWriter writer(gif);
  StringTable table;
  int codeBits = bits + 1;
  std::uint32_t nextCode = firstCode;
  writer.add(clearCode, codeBits);

  // Codes become longer when the decoder, which learns each string one code later, requires it.
  const auto write = [&](std::uint32_t code) {
    writer.add(code, codeBits);
    if (nextCode == 1U << codeBits && codeBits < kMaxCodeBits) {
      ++codeBits;
    }
  };
  std::uint32_t prefix = indices[0];
  for (std::size_t i = 1; i < indices.size(); ++i) {
    const std::uint8_t index = indices[i];
    const std::uint32_t known = table.find(prefix, index);
    if (known != StringTable::kUnknown) {
      prefix = known;
      continue;
    }
    write(prefix);
    if (nextCode < kMaxCodes) {
      table.insert(prefix, index, nextCode++);
    } else {
      writer.add(clearCode, codeBits);
      table.clear();
      codeBits = bits + 1;
      nextCode = firstCode;
    }
    prefix = index;
  }
  write(prefix);
  writer.add(endCode, codeBits);
  writer.finish();
}

}  // namespace steptape::detail::values
