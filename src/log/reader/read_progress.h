// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <utility>

namespace steptape::detail::log {

/// Reports from time to time how many bytes of a run's files were read:
///
///     progress.beginFile(offset);
///     while (...) progress.reach(offset);
///     progress.endFile(offset);
///
/// @threads Not thread-safe: one thread at a time.
/// @cost    One comparison per call of reach().
class ReadProgress {
 public:
  /// @param report       May be empty.
  /// @param bytesBetween Minimum number of bytes between reports.
  explicit ReadProgress(std::function<void(std::uint64_t bytes)> report,
                        std::uint64_t bytesBetween = std::uint64_t{8} << 20)
      : report_(std::move(report)), bytesBetween_(bytesBetween) {
    restart();
  }

  /// Restarts from 0.
  void restart() {
    bytesBefore_ = 0;
    next_ = report_ ? bytesBetween_ : std::numeric_limits<std::uint64_t>::max();
  }

  /// Starts a file that has already been read up to `offset`.
  void beginFile(std::uint64_t offset) { begin_ = offset; }

  /// Records that the file has been read up to `offset`, which is not before that of beginFile().
  void reach(std::uint64_t offset) {
    if (bytesAt(offset) >= next_) {
      next_ = bytesAt(offset) + bytesBetween_;
      report_(bytesAt(offset));
    }
  }

  void endFile(std::uint64_t offset) { bytesBefore_ = bytesAt(offset); }

 private:
  std::uint64_t bytesAt(std::uint64_t offset) const { return bytesBefore_ + (offset - begin_); }

  std::function<void(std::uint64_t bytes)> report_;
  std::uint64_t bytesBetween_;
  std::uint64_t bytesBefore_ = 0;  // in earlier files
  std::uint64_t begin_ = 0;
  std::uint64_t next_ = 0;  // threshold of the next report
};

}  // namespace steptape::detail::log
