// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>

#include "steptape/profile/trace.h"

#include "profile/trace/text/trace_text.h"

namespace steptape::detail::profile {

/// Renders once what events of spans with the same name and details have in common: the start of
/// the event up to the number of its "External id".
///
/// @threads Not thread-safe: one thread at a time.
class SpanTexts {
 public:
  explicit SpanTexts(const Trace& trace) : trace_(trace) {}

  /// Returns the start of the event. Valid until the next call.
  RepeatedText* of(const TraceSpan& span) {
    return at(std::uint64_t{span.name} << 32 | span.details);
  }

  /// Returns the start, with name and category, of the event that ends a span which is not a slice.
  /// Valid until the next call.
  RepeatedText* endOf(const TraceSpan& span) { return at(std::uint64_t{span.name} << 32 | kEnd); }

 private:
  static constexpr std::uint32_t kEnd = ~std::uint32_t{0};  // replaces the details
  struct Entry {
    std::uint64_t key = 0;
    Entry* next = nullptr;  // the successor of last time
    RepeatedText repeated;
  };

  RepeatedText* at(std::uint64_t key) {
    // Programs repeat themselves, so the successor of last time is likely to follow again.
    if (last_ == nullptr || last_->next == nullptr || last_->next->key != key) {
      find(key);
    } else {
      last_ = last_->next;
    }
    return &last_->repeated;
  }
  void find(std::uint64_t key);

  const Trace& trace_;
  std::unordered_map<std::uint64_t, Entry> entries_;
  std::size_t bytes_ = 0;
  Entry* last_ = nullptr;
};

}  // namespace steptape::detail::profile
