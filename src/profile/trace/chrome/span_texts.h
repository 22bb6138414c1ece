// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "steptape/profile/trace.h"

namespace steptape::detail::profile {

/// Renders once what events of spans with the same name and details have in common: the start of
/// the event up to the number of its "External id".
///
/// @threads Not thread-safe: one thread at a time.
class SpanTexts {
 public:
  explicit SpanTexts(const Trace& trace) : trace_(trace) {}

  /// Returns the start of the event. Valid until the next call.
  const std::string& of(const TraceSpan& span) {
    return at(std::uint64_t{span.name} << 32 | span.details);
  }

  /// Returns the start, with name and category, of the event that ends a span which is not a slice.
  /// Valid until the next call.
  const std::string& endOf(const TraceSpan& span) {
    return at(std::uint64_t{span.name} << 32 | kEnd);
  }

 private:
  static constexpr std::uint32_t kEnd = ~std::uint32_t{0};  // replaces the details
  const std::string& at(std::uint64_t key);

  const Trace& trace_;
  std::unordered_map<std::uint64_t, std::string> texts_;
  std::size_t bytes_ = 0;  // of texts_
};

}  // namespace steptape::detail::profile
