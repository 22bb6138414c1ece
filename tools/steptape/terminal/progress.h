// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>

#include "steptape/base/clock.h"

namespace steptape::tools {

/// "reading [=====>    ]  52 %  1.2 GiB/s  0:02 left".
///
/// @param seconds Since the work began.
/// @param columns The most that the line takes: where they are few the bar gets shorter, then the
///                rate goes, then the time that is left.
std::string progressLine(const std::string& label, std::uint64_t doneBytes,
                         std::uint64_t totalBytes, double seconds, std::size_t columns);

/// A progress bar for work on bytes, on the error stream and only where that is a terminal:
///
///     Progress progress("reading", totalBytes(runs));
///     for (const RunFiles& run : runs) {
///       RunReaderOptions options;
///       options.onProgress = progress.part();
///       ...
///     }
///     progress.clear();   // before anything is printed
///
/// The bar appears once the work has taken half a second, is drawn at most ten times a second, and
/// leaves nothing behind.
///
/// Not thread-safe: one thread at a time.
class Progress {
 public:
  Progress(std::string label, std::uint64_t totalBytes);
  /// For tests, and for what is not the error stream. REQUIRES: `terminal` is null (draws nothing)
  /// or stays open; `clock` outlives this.
  Progress(std::string label, std::uint64_t totalBytes, std::FILE* terminal, const Clock& clock);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }

  /// Says how many bytes of all are done.
  void set(std::uint64_t doneBytes);

  /// For RunReaderOptions::onProgress of the next run, file or whatever the work is made of: the
  /// bytes it is called with count on top of what is done now. REQUIRES: this outlives it.
  std::function<void(std::uint64_t bytes)> part();

  /// Erases the bar, so that something else can be printed; the next set() draws it again.
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
