// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>

#include "steptape/base/clock.h"

namespace steptape::tools {

/// Returns "reading [=====>    ]  52 %  1.2 GiB/s  0:02 left".
///
/// @param seconds Since the work began.
/// @param columns Maximum width: a narrow line shortens the bar, then drops the rate, then the
///                remaining time.
std::string progressLine(const std::string& label, std::uint64_t doneBytes,
                         std::uint64_t totalBytes, double seconds, std::size_t columns);

/// A progress bar for work on bytes, on standard error if that is a terminal:
///
///     Progress progress("reading", totalBytes(runs));
///     for (const RunFiles& run : runs) {
///       RunReaderOptions options;
///       options.onProgress = progress.part();
///       ...
///     }
///     progress.clear();   // before anything is printed
///
/// The bar appears after half a second of work, is drawn at most ten times a second, and is removed
/// at the end.
///
/// Not thread-safe: one thread at a time.
class Progress {
 public:
  Progress(std::string label, std::uint64_t totalBytes);
  /// For tests, and for other streams than standard error. REQUIRES: `terminal` is null (draws
  /// nothing) or stays open; `clock` outlives this.
  Progress(std::string label, std::uint64_t totalBytes, std::FILE* terminal, const Clock& clock);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }

  /// Sets how many of all bytes are done.
  void set(std::uint64_t doneBytes);

  /// For RunReaderOptions::onProgress of the next run or file: adds the bytes that it is called
  /// with to those done so far. REQUIRES: this outlives it.
  std::function<void(std::uint64_t bytes)> part();

  /// Erases the bar so that other text can be printed; the next set() draws it again.
  void clear();

 private:
  std::string label_;
  std::uint64_t totalBytes_;
  std::uint64_t doneBytes_ = 0;
  std::FILE* terminal_;
  const Clock* clock_;
  std::int64_t beginNanos_;
  std::int64_t nextDrawNanos_;
  bool isDrawn_ = false;
};

}  // namespace steptape::tools
