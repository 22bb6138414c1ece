// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "steptape/profile/trace.h"

namespace steptape::detail::profile {

inline constexpr std::uint32_t kNoSpan = ~std::uint32_t{0};

/// Returns the enclosing span of each span of a thread, or kNoSpan; see visitThread(). Spans that
/// take no time of the thread neither have nor are parents.
std::vector<std::uint32_t> parentsOf(const std::vector<TraceSpan>& spans);

/// Finds the module of each span of a trace: that of its details, else that of its forward operator
/// or of the enclosing span. The span of a call of a module in PyTorch's traces has that module.
///
/// @threads Thread-compatible: const methods may run concurrently.
class SpanModules {
 public:
  /// @param trace Must outlive this object.
  explicit SpanModules(const Trace& trace);

  /// @return empty if it is unknown.
  const std::string& of(std::size_t thread, std::size_t span) const;

 private:
  void inheritAll();

  const Trace& trace_;
  std::vector<std::string> modules_{std::string()};
  std::vector<std::vector<std::uint32_t>> ofSpans_;  // by thread and span: index into modules_
};

/// Finds the span that was open on a thread at a time.
///
/// @threads Thread-compatible: const methods may run concurrently.
class SpansAtTimes {
 public:
  /// @param trace Must outlive this object.
  explicit SpansAtTimes(const Trace& trace);

  /// @return the innermost span that contains `time`; null if there is none.
  const TraceSpan* innermost(std::size_t thread, std::int64_t time) const;

 private:
  const Trace& trace_;
  /// By thread and span: the enclosing span, or kNoSpan.
  std::vector<std::vector<std::uint32_t>> parents_;
};

}  // namespace steptape::detail::profile
