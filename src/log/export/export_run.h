// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "steptape/log/export.h"

#include "log/reader/run_events.h"

namespace steptape::detail::log {

/// A run with its names as an export shows them: valid UTF-8, and different if they are different
/// in the files.
struct ExportedRun {
  const RunFiles& files;
  const std::vector<RunTag>& tags;
  std::string directory;
  std::vector<std::string> tagNames;
};

/// Writes an export in one format.
class ExportFormat {
 public:
  ExportFormat() = default;
  ExportFormat(const ExportFormat&) = delete;
  ExportFormat& operator=(const ExportFormat&) = delete;
  virtual ~ExportFormat() = default;

  /// Starts a run. Values refer to its tags. It stays valid until the next run.
  virtual void beginRun(const ExportedRun& run) = 0;
  /// @return whether the format supports such values.
  virtual bool take(const RunValue& value) = 0;
  /// Whether it has 64-bit integers that no double equals.
  virtual bool isExact() const { return false; }
  /// Whether it should have all numbers, so that those that it leaves out are noted.
  virtual bool isOfNumbers() const { return true; }
};

/// Passes all values that `options` select to `format`, run by run.
ExportResult exportRuns(const std::vector<RunFiles>& runs, const ExportOptions& options,
                        ExportFormat* format);

/// Returns the prefix of temporary files.
std::string temporaryPrefix(const ExportOptions& options);

/// A buffer of text for a sink.
class ExportText {
 public:
  explicit ExportText(const ExportSink& sink) : sink_(sink) {}

  /// Returns the string to append to.
  std::string& text() { return text_; }

  void flushIfLong() {
    constexpr std::size_t kPiece = 64 << 10;
    if (text_.size() >= kPiece) {
      flush();
    }
  }
  void flush() {
    sink_(text_);
    text_.clear();
  }

 private:
  const ExportSink& sink_;
  std::string text_;
};

}  // namespace steptape::detail::log
