// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "steptape/exporter/export.h"
#include "steptape/reader/run_events.h"

namespace steptape::detail {

/// Writes what is exported of runs in one format.
class ExportFormat {
 public:
  ExportFormat() = default;
  ExportFormat(const ExportFormat&) = delete;
  ExportFormat& operator=(const ExportFormat&) = delete;
  virtual ~ExportFormat() = default;

  /// A run begins. Values refer to `tags`, which stay until the next run.
  virtual void beginRun(const RunFiles& run, const std::vector<RunTag>& tags) = 0;
  /// @return whether the format holds such values.
  virtual bool take(const RunValue& value) = 0;
};

/// Gives `format` all values that `options` want, run by run.
ExportResult exportRuns(const std::vector<RunFiles>& runs, const ExportOptions& options,
                        ExportFormat* format);

/// Where to put temporary files.
std::string temporaryPrefix(const ExportOptions& options);

/// Text on its way to a sink.
class ExportText {
 public:
  explicit ExportText(const ExportSink& sink) : sink_(sink) {}

  /// To be appended to.
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

}  // namespace steptape::detail
