// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "steptape/profile/trace.h"

#include "profile/trace/perfetto/perfetto_event_form.h"
#include "profile/trace/perfetto/perfetto_sequence.h"
#include "profile/trace/text/trace_text.h"

namespace steptape::detail::profile {

/// An arrow at the begin of a span.
struct PerfettoFlow {
  std::uint64_t id = 0;  ///< 0: there is none.
  bool isEnd = false;
};

/// Writes the begins and ends of spans.
///
/// Packets of spans of the same name and details are the same but for times and a few numbers, so
/// most of a packet is a repeated text.
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
  struct Variant {
    std::uint32_t key = 0;  // see variantKey()
    RepeatedText repeated;
  };
  struct Entry {
    std::uint64_t key = 0;  // name and details
    Entry* next = nullptr;  // what followed last time
    std::vector<Variant> variants;
  };
  /// Fields of one event that are not in its repeated text.
  struct Numbers;

  RepeatedText* repeatedTextOf(const TraceSpan& span, const Numbers& numbers);
  Entry* entryOf(std::uint64_t key);
  RepeatedText makeBegin(const TraceSpan& span, const Numbers& numbers);

  const Trace& trace_;
  const TraceThread& thread_;
  PerfettoSequence* const sequence_;
  TraceText* const text_;
  PerfettoEventForm end_;

  std::unordered_map<std::uint64_t, Entry> entries_;
  std::size_t bytes_ = 0;        // of entries_
  std::uint64_t valueName_ = 0;  // 0: there has been no value
  std::uint64_t correlationName_ = 0;
  Entry* last_ = nullptr;
};

}  // namespace steptape::detail::profile
