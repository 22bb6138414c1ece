// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <fcntl.h>
#include <new>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace steptape::test {

/// What the ranks of a job note of their calls, in a file that test and ranks map.
struct KilledRankNotes {
  static constexpr int kRanks = 4;

  std::atomic<std::int64_t> own[kRanks];      ///< addScalar() that had returned.
  std::atomic<std::int64_t> reduced[kRanks];  ///< reduce() that had returned.

  /// @return null if the operating system refuses.
  static KilledRankNotes* map(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || ::ftruncate(file, sizeof(KilledRankNotes)) != 0) {
      return nullptr;
    }
    void* const memory =
        ::mmap(nullptr, sizeof(KilledRankNotes), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    return memory == MAP_FAILED ? nullptr : static_cast<KilledRankNotes*>(memory);
  }
};

}  // namespace steptape::test
