// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "steptape/process/zone.h"
#include "steptape/profile/trace.h"

#include "base/text.h"

namespace steptape::detail::profile {

// Constants of the Chrome format, for both writer and reader. The format is Kineto's. Additional
// data of a Trace is in Steptape's own events and arguments, which other readers ignore.

/// `ph:"M"` events with what a Trace says of its process, and of a device's rows.
inline constexpr char kProcessFacts[] = "steptape_process";
inline constexpr char kDeviceFacts[] = "steptape_device";

/// Category of counters that are derived from memory events.
inline constexpr char kMemoryCategory[] = "memory";

inline constexpr char kStepPrefix[] = "ProfilerStep#";
inline constexpr char kUserCategory[] = "user_annotation";
inline constexpr char kPythonCategory[] = "python_function";

/// Argument by which events of JAX and TensorFlow are steps.
inline constexpr char kStepArgument[] = "step_num";

/// Category of the instant event that reports how many spans are missing from the trace.
inline constexpr char kNoteCategory[] = "steptape_note";

/// Argument of a host thread's "thread_name": the thread's number in "Fwd thread id".
inline constexpr char kTorchThread[] = "Torch thread id";

/// Argument of copies and fills, derived from their bytes and duration.
inline constexpr char kThroughput[] = "memory bandwidth (GB/s)";

/// Argument of a span that is not a slice because it does not nest, but took time of its thread.
inline constexpr char kOverlapOnThread[] = "overlaps on its thread";

/// Returns the name shown for a thread without a name.
inline std::string unnamedThread(std::uint64_t id, int device) {
  return (device < 0 ? "thread " : "stream ") + std::to_string(id);
}

/// Category of the arrows from a forward operator to its backward node.
inline constexpr char kGradientCategory[] = "fwdbwd";

/// Category of the arrows from a call of the runtime library to the work that it launched.
inline constexpr char kLaunchCategory[] = "ac2g";

/// Returns Kineto's category for spans of this kind and name. Kineto's names of copies and fills
/// begin with "Memcpy" and "Memset". Calls of CUDA's driver have names such as "cuLaunchKernel",
/// those of its runtime library "cudaLaunchKernel".
inline const char* chromeCategory(SpanKind kind, std::string_view name) {
  switch (kind) {
    case SpanKind::kOperator:
    case SpanKind::kBackward:
      return "cpu_op";
    case SpanKind::kDevice:
      return base::startsWith(name, "Memcpy ")   ? "gpu_memcpy"
             : base::startsWith(name, "Memset ") ? "gpu_memset"
                                                 : "kernel";
    case SpanKind::kRuntime:
      return base::startsWith(name, "cu") && name.size() > 2 && name[2] >= 'A' && name[2] <= 'Z'
                 ? "cuda_driver"
                 : "cuda_runtime";
    default:
      return kUserCategory;
  }
}

inline std::string chromeCategoryOf(const TraceName& name) {
  return name.category.empty() ? chromeCategory(name.kind, name.text) : name.category;
}

/// Returns whether a span is a copy or fill, whose throughput Kineto states.
inline bool movesBytes(const TraceName& name) {
  return base::startsWith(chromeCategoryOf(name), "gpu_mem");
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
  if (category == "cuda_runtime" || category == "cuda_driver") {
    return SpanKind::kRuntime;
  }
  return category == "kernel" || base::startsWith(category, "gpu_") ? SpanKind::kDevice
                                                                    : SpanKind::kZone;
}

}  // namespace steptape::detail::profile
