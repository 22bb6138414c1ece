// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "steptape/trace/trace.h"

namespace steptape::detail {

inline constexpr std::uint32_t kNoSpan = ~std::uint32_t{0};

/// By span of a thread: the one around it, or kNoSpan. Detached spans have none and are none.
std::vector<std::uint32_t> parentsOf(const std::vector<TraceSpan>& spans);

/// Which module each span of a trace belongs to: that of its details, else that of its forward
/// operator or of the span around it.
///
/// @threads Thread-compatible: const methods may run concurrently.
class SpanModules {
 public:
  /// @param trace Must outlive this object.
  explicit SpanModules(const Trace& trace);

  /// @return empty if none is known.
  const std::string& of(std::size_t thread, std::size_t span) const;

 private:
  void inherit(std::size_t thread);

  const Trace& trace_;
  /// By thread and span: the number of the details that name the module.
  std::vector<std::vector<std::uint32_t>> details_;
};

/// Finds the span that was open on a thread at a time.
///
/// @threads Thread-compatible: const methods may run concurrently.
class SpansAtTimes {
 public:
  /// @param trace Must outlive this object.
  explicit SpansAtTimes(const Trace& trace);

  /// @return the innermost span around `time`; null if there is none.
  const TraceSpan* innermost(std::size_t thread, std::int64_t time) const;

 private:
  const Trace& trace_;
  /// By thread and span: the span around it, or kNoSpan.
  std::vector<std::vector<std::uint32_t>> parents_;
};

}  // namespace steptape::detail
