// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace steptape::detail::log {

/// A thread's cache of the tags that it logged last: finds a tag's series without a lock.
///
/// Direct-mapped: if two tags collide, one takes the slow path again. An entry is one cache line
/// and holds a short tag itself; for a long tag, it points to the text in the writer with the
/// number `writer`. Numbers are never reused, so the text exists as long as the caller holds that
/// writer.
///
/// @threads Not thread-safe: one thread at a time.
class TagCache {
 public:
  static std::uint64_t hash(std::string_view tag) {
    std::uint64_t h = mix(tag.size());
    if (tag.size() < 8) {
      return mix(h ^ shortWord(tag));
    }
    // The last word overlaps the one before, which avoids a loop over single bytes.
    for (std::size_t i = 0; i + 8 < tag.size(); i += 8) {
      h = mix(h ^ word(tag.data() + i));
    }
    return mix(h ^ word(tag.data() + tag.size() - 8));
  }

  /// @return the series' number; 0 if it is not cached.
  std::uint32_t find(std::uint64_t writer, std::string_view tag, std::uint64_t tagHash) const {
    const Entry& entry = entries_[indexOf(writer, tagHash)];
    const bool found = entry.hash == tagHash && entry.writer == writer &&
                       entry.size == tag.size() && isEqual(entry.text(), tag.data(), tag.size());
    return found ? entry.series : 0;
  }

  /// @param tag Must live as long as the writer.
  void insert(std::uint64_t writer, std::string_view tag, std::uint64_t tagHash,
              std::uint32_t series) {
    Entry& entry = entries_[indexOf(writer, tagHash)];
    entry.writer = writer;
    entry.hash = tagHash;
    entry.series = series;
    entry.size = static_cast<std::uint32_t>(tag.size());
    entry.longText = tag.data();
    if (tag.size() <= sizeof(entry.shortText)) {
      std::memcpy(entry.shortText, tag.data(), tag.size());
    }
  }

 private:
  struct alignas(64) Entry {
    std::uint64_t writer = 0;
    std::uint64_t hash = 0;
    std::uint32_t series = 0;
    std::uint32_t size = 0;
    const char* longText = nullptr;
    char shortText[32] = {};

    const char* text() const { return size <= sizeof(shortText) ? shortText : longText; }
  };
  static_assert(sizeof(Entry) == 64, "an entry is one cache line");

  static std::uint64_t word(const char* from) {
    std::uint64_t word;
    std::memcpy(&word, from, sizeof(word));
    return word;
  }
  /// Returns all bytes of a tag shorter than 8 bytes.
  static std::uint64_t shortWord(std::string_view tag) {
    std::uint64_t word = 0;
    std::memcpy(&word, tag.data(), std::min<std::size_t>(tag.size(), sizeof(word)));
    return word;
  }
  static bool isEqual(const char* a, const char* b, std::size_t size) {
    if (size < 8) {
      return shortWord({a, size}) == shortWord({b, size});
    }
    std::uint64_t difference = word(a + size - 8) ^ word(b + size - 8);
    for (std::size_t i = 0; i + 8 < size; i += 8) {
      difference |= word(a + i) ^ word(b + i);
    }
    return difference == 0;
  }
  static std::uint64_t mix(std::uint64_t x) {
    x *= 0xff51afd7ed558ccdU;
    return x ^ (x >> 32);
  }
  /// Uses the upper bits, which every character of the tag affects: tags often differ only in the
  /// last one.
  static std::size_t indexOf(std::uint64_t writer, std::uint64_t tagHash) {
    return (tagHash ^ (writer * 0x9e3779b97f4a7c15U)) >> (64 - kIndexBits);
  }

  static constexpr int kIndexBits = 8;
  std::array<Entry, 1 << kIndexBits> entries_;
};

}  // namespace steptape::detail::log
