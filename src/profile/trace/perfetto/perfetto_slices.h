// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "steptape/profile/trace.h"

#include "profile/trace/perfetto/perfetto_sequence.h"

namespace steptape::detail::profile {

/// An arrow at the begin of a span.
struct PerfettoFlow {
  std::uint64_t id = 0;  ///< 0: there is none.
  bool isEnd = false;
};

/// Writes the begins and ends of spans.
///
/// Spans of the same name and details differ only in times and a few numbers, so most fields are
/// made once.
///
/// @threads Not thread-safe: one thread at a time.
class PerfettoSlices {
 public:
  PerfettoSlices(const Trace& trace, std::size_t thread, PerfettoSequence* sequence);

  // In the order of their times.
  /// @param track 0: that of the sequence.
  void begin(const TraceSpan& span, PerfettoFlow flow, std::uint64_t track = 0);
  void end(std::int64_t time, std::uint64_t track = 0);

 private:
  std::uint64_t numberOf(std::string_view argument, std::uint64_t* known);
  const std::string& fieldsOf(const TraceSpan& span);
  std::string makeFields(const TraceSpan& span);

  const Trace& trace_;
  const TraceThread& thread_;
  PerfettoSequence* const sequence_;

  std::unordered_map<std::uint64_t, std::string> fields_;  // by name and details
  std::size_t bytes_ = 0;                                  // of fields_
  std::string own_;  // fields of one span alone: keeps its memory
  // Numbers of the names of arguments; 0: not used yet.
  std::uint64_t forwardName_ = 0;
  std::uint64_t sequenceName_ = 0;
  std::uint64_t valueName_ = 0;
  std::uint64_t correlationName_ = 0;
};

}  // namespace steptape::detail::profile
