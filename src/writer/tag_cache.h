// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace steptape {

/// A thread's memory of the tags it logged last: finds a tag's series without a lock.
///
/// Direct-mapped: a tag that meets another one's place only takes the slow way again. An entry
/// points at its tag's text in the writer that `writer` numbers; numbers are never used again, so a
/// caller that holds that writer finds the text alive.
///
/// @threads Not thread-safe: one thread at a time.
class TagCache {
 public:
  static std::uint64_t hash(std::string_view tag) {
    constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15U;
    std::uint64_t h = tag.size() * kMix;
    const char* p = tag.data();
    std::size_t left = tag.size();
    for (; left >= 8; left -= 8, p += 8) {
      std::uint64_t word;
      std::memcpy(&word, p, 8);
      h = mix(h ^ word);
    }
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < left; ++i) {
      word |= std::uint64_t{static_cast<unsigned char>(p[i])} << (8 * i);
    }
    return mix(h ^ word);
  }

  /// @return the series' id; 0 if it is not here.
  std::uint32_t find(std::uint64_t writer, std::string_view tag, std::uint64_t tagHash) const {
    const Entry& entry = at(writer, tagHash);
    const bool found = entry.writer == writer && entry.hash == tagHash &&
                       entry.size == tag.size() &&
                       std::memcmp(entry.text, tag.data(), tag.size()) == 0;
    return found ? entry.series : 0;
  }

  /// @param tag Lives as long as the writer.
  void insert(std::uint64_t writer, std::string_view tag, std::uint64_t tagHash,
              std::uint32_t series) {
    const_cast<Entry&>(at(writer, tagHash)) = {writer, tagHash, tag.data(),
                                               static_cast<std::uint32_t>(tag.size()), series};
  }

 private:
  struct Entry {
    std::uint64_t writer = 0;
    std::uint64_t hash = 0;
    const char* text = nullptr;
    std::uint32_t size = 0;
    std::uint32_t series = 0;
  };

  static std::uint64_t mix(std::uint64_t x) {
    constexpr std::uint64_t kOdd = 0xff51afd7ed558ccdU;
    x *= kOdd;
    return x ^ (x >> 32);
  }
  const Entry& at(std::uint64_t writer, std::uint64_t tagHash) const {
    return entries_[(tagHash ^ (writer * 0x9e3779b9U)) % entries_.size()];
  }

  std::array<Entry, 512> entries_;
};

}  // namespace steptape
