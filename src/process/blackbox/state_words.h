// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "process/blackbox/state_layout.h"

// Stores into the mapped file of a state. All are safe in a signal handler.

namespace steptape::detail::process {

inline void storeWord(state_layout::Word& word, std::uint64_t value) noexcept {
  __atomic_store_n(&word, value, __ATOMIC_RELAXED);
}
inline void storeSigned(state_layout::Word& word, std::int64_t value) noexcept {
  storeWord(word, static_cast<std::uint64_t>(value));
}
inline void storeDouble(state_layout::Word& word, double value) noexcept {
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  storeWord(word, bits);
}
inline void storeFloat(state_layout::Word& word, float value) noexcept {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  storeWord(word, bits);
}
inline std::uint64_t loadWord(const state_layout::Word& word) noexcept {
  return __atomic_load_n(&word, __ATOMIC_RELAXED);
}

/// Makes the number of a sequence lock odd, before all stores that follow.
inline void storeOdd(state_layout::Word& sequence, std::uint64_t odd) noexcept {
  storeWord(sequence, odd);
#if defined(__SANITIZE_THREAD__)
  asm volatile("" : : : "memory");  // ThreadSanitizer does not know fences
#else
  __atomic_thread_fence(__ATOMIC_RELEASE);
#endif
}

/// Copies as much of a text as fits, without a part of a UTF-8 character at its end.
template <std::size_t kBytes>
void storeText(state_layout::Text<kBytes>& field, std::string_view text) noexcept {
  std::size_t size = std::min(text.size(), kBytes - 1);
  if (size < text.size()) {
    while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80U) {
      --size;
    }
  }
  std::memcpy(field.data(), text.data(), size);
  field[size] = '\0';
}

/// Makes the number of a sequence lock odd, stores, and makes it even: for the one thread that
/// stores into the entry.
class OwnStore {
 public:
  explicit OwnStore(state_layout::Word& sequence) noexcept
      : sequence_(sequence), number_(loadWord(sequence)) {
    storeOdd(sequence_, number_ + 1);
  }
  ~OwnStore() { __atomic_store_n(&sequence_, number_ + 2, __ATOMIC_RELEASE); }
  OwnStore(const OwnStore&) = delete;
  OwnStore& operator=(const OwnStore&) = delete;

 private:
  state_layout::Word& sequence_;
  const state_layout::Word number_;
};

/// Like OwnStore, for an entry into which several threads store. It does not wait for a thread that
/// was stopped in its store: after some tries it gives up.
///
///     if (const SharedStore store{entry.sequence}) { ... }
class SharedStore {
 public:
  explicit SharedStore(state_layout::Word& sequence) noexcept : sequence_(sequence) {
    constexpr int kTries = 1000;
    for (int i = 0; i < kTries && !holds_; ++i) {
      number_ = __atomic_load_n(&sequence_, __ATOMIC_RELAXED);
      holds_ =
          number_ % 2 == 0 && __atomic_compare_exchange_n(&sequence_, &number_, number_ + 1, false,
                                                          __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
    }
    if (holds_) {
      storeOdd(sequence_, number_ + 1);  // once more, for the order of what follows
    }
  }
  ~SharedStore() {
    if (holds_) {
      __atomic_store_n(&sequence_, number_ + 2, __ATOMIC_RELEASE);
    }
  }
  SharedStore(const SharedStore&) = delete;
  SharedStore& operator=(const SharedStore&) = delete;

  explicit operator bool() const noexcept { return holds_; }

 private:
  state_layout::Word& sequence_;
  state_layout::Word number_ = 0;
  bool holds_ = false;
};

}  // namespace steptape::detail::process
