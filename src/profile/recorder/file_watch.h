// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>

#include "steptape/base/export.h"

#include "base/loop_thread.h"

namespace steptape::detail::profile {

/// Reports whether a file exists and when it was modified. A separate thread asks the file system,
/// which may take long to respond, four times a second.
///
/// @threads Thread-safe, except construction and destruction.
class STEPTAPE_EXPORT FileWatch {
 public:
  static constexpr std::int64_t kAbsent = INT64_MIN;

  explicit FileWatch(std::string path);
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;

  /// Returns a number that changes with the time of modification; kAbsent while there is no file.
  ///
  /// @cost Reads an atomic.
  std::int64_t modification() const noexcept {
    return modification_.load(std::memory_order_relaxed);
  }

 private:
  void look();

  const std::filesystem::path path_;
  std::atomic<std::int64_t> modification_{kAbsent};
  base::LoopThread thread_;  // last: uses all members above
};

}  // namespace steptape::detail::profile
