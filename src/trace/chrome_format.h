// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "steptape/span/span_record.h"
#include "steptape/trace/trace.h"

#include "base/text.h"

namespace steptape::detail {

// Constants of the Chrome format, for both writer and reader. The format is Kineto's. Additional
// data of a Trace is in Steptape's own events and arguments, which other readers ignore.

/// `ph:"M"` events with what a Trace says of its process, and of a device's rows.
inline constexpr char kProcessFacts[] = "steptape_process";
inline constexpr char kDeviceFacts[] = "steptape_device";

/// Category of counters that are derived from memory events.
inline constexpr char kMemoryCategory[] = "memory";

inline constexpr char kStepPrefix[] = "ProfilerStep#";
inline constexpr char kUserCategory[] = "user_annotation";

/// Category of the instant event that reports how many spans are missing from the trace.
inline constexpr char kNoteCategory[] = "steptape_note";

/// Argument of a host thread's "thread_name": the thread's number in "Fwd thread id".
inline constexpr char kTorchThread[] = "Torch thread id";

/// Returns the name shown for a thread without a name.
inline std::string unnamedThread(std::uint64_t id, int device) {
  return (device < 0 ? "thread " : "stream ") + std::to_string(id);
}

/// Returns Kineto's category for spans of this kind.
inline const char* chromeCategory(SpanKind kind) {
  switch (kind) {
    case SpanKind::kOperator:
    case SpanKind::kBackward:
      return "cpu_op";
    case SpanKind::kDevice:
      return "kernel";
    default:
      return kUserCategory;
  }
}

inline std::string chromeCategoryOf(const TraceName& name) {
  return name.category.empty() ? chromeCategory(name.kind) : name.category;
}

/// "#RRGGBB".
inline std::string chromeColor(std::uint32_t color) {
  char text[8];
  std::snprintf(text, sizeof text, "#%06X", color & 0xffffffu);
  return text;
}

/// The kind of a span of which nothing but its category is known.
inline SpanKind kindOfChromeCategory(std::string_view category) {
  if (category == "cpu_op") {
    return SpanKind::kOperator;
  }
  if (category == kUserCategory) {
    return SpanKind::kUserScope;
  }
  return category == "kernel" || startsWith(category, "gpu_") ? SpanKind::kDevice : SpanKind::kZone;
}

}  // namespace steptape::detail
