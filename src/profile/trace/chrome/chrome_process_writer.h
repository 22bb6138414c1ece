// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "steptape/profile/trace.h"

#include "profile/trace/chrome/span_texts.h"
#include "profile/trace/thread_steps.h"
#include "profile/trace/trace_text.h"

namespace steptape::detail::profile {

/// State shared by the processes of one file.
struct ChromeFileState {
  std::int64_t baseNanos = 0;
  std::set<std::int64_t> processIds;
  std::int64_t lastSpan = 0;  ///< "External id".
  std::int64_t lastFlow = 0;
  std::int64_t lastProcess = 0;  ///< As viewers sort them: each is followed by its devices.
  bool isOfOne = true;           ///< Whether the file has one process.
};

/// Writes the events of one process.
///
/// The next event closes an event: each starts with the brace that ends the previous one. REQUIRES:
/// an open event precedes; leaves one open.
class ChromeProcessWriter {
 public:
  /// @param name As viewers show it; see fileProcessNames().
  ChromeProcessWriter(const Trace& trace, std::string name, std::int64_t processId,
                      ChromeFileState* file, TraceText* text);

  void write();

 private:
  /// The texts shared by the events of one thread.
  struct Row {
    /// @param where         `"pid":7,"tid":8`
    /// @param lastArguments Arguments of each span, such as `,"device":0,"stream":7`; may be empty.
    Row(const std::string& where, const std::string& lastArguments);

    std::string slice;
    std::string asyncBegin;
    std::string asyncEnd;
    std::string flowBegin;
    std::string flowEnd;
    std::string launchBegin;
    std::string launchEnd;
    std::string memory;
  };

  /// An operator that is open while its thread is written.
  struct OpenOperator {
    std::int64_t end;
    std::int64_t externalId;
  };

  void addRow(std::size_t thread, std::int64_t pid);
  void writeMetadata(const std::string& where, std::string_view name, const std::string& arguments);
  void writeProcessMetadata();
  void writeDeviceMetadata(int device, std::int64_t pid);
  void writeThreadMetadata(const std::string& where, std::size_t thread);
  void writeThread(std::size_t thread);
  void writeStep(const TraceStep& step);
  void writeSpan(const TraceSpan& span, bool isSlice, Row* row);
  std::int64_t externalIdOf(const TraceSpan& span);
  void writeFlows();
  void writeArrow(const TraceLink& link, std::string Row::*begin, std::string Row::*end,
                  std::int64_t id);
  void writeMemory();
  void writeCounters();
  void writeEnd();

  /// Returns whether the span is drawn in its thread's row; other spans would overlap there.
  bool isSlice(std::size_t thread, const TraceSpan& span) {
    return (span.flags & kDetached) == 0 && !steps_[thread].areCrossedBy(span);
  }
  void appendTime(std::int64_t time) { text_->appendMicros(offset_ + time); }

  const Trace& trace_;
  const std::string name_;
  const std::int64_t processId_;
  const std::int64_t offset_;  // of the trace's times in the file
  ChromeFileState* const file_;
  TraceText* const text_;
  SpanTexts spans_;
  std::vector<ThreadSteps> steps_;                             // of each thread
  std::vector<Row> rows_;                                      // of each thread
  std::vector<OpenOperator> openOperators_;                    // the outermost first
  std::unordered_map<std::uint32_t, std::int64_t> launchers_;  // "External id" by correlation
};

}  // namespace steptape::detail::profile
