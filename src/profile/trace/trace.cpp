// SPDX-License-Identifier: Apache-2.0
#include "steptape/profile/trace.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "profile/trace/autograd_node_prefix.h"
#include "profile/trace/thread_time.h"

namespace steptape {
namespace {

constexpr std::uint8_t kOverlap = kDetached | kOverlapping;

/// Marks and removes the open spans that end inside `span`, which began later.
///
/// @return false, and marks nothing, if one of them is at least as long as `span`.
bool removeCrossed(const TraceSpan& span, std::vector<TraceSpan*>* open) {
  const std::int64_t end = detail::profile::endOf(span);
  // They are the innermost ones; the first of them is the longest.
  const auto crossed = std::partition_point(
      open->begin(), open->end(),
      [end](const TraceSpan* outer) { return detail::profile::endOf(*outer) >= end; });
  if ((*crossed)->duration >= span.duration) {
    return false;
  }
  std::for_each(crossed, open->end(), [](TraceSpan* shorter) { shorter->flags |= kOverlap; });
  open->erase(crossed, open->end());
  return true;
}

/// A span with the key that its forward operator and its backward node share.
struct SequencedSpan {
  std::int64_t sequence;
  std::int64_t start;
  std::uint32_t span;
  std::uint32_t thread;
  std::uint16_t forwardThread;
};

bool isOfEarlierCall(const SequencedSpan& a, const SequencedSpan& b) {
  return std::tie(a.forwardThread, a.sequence) < std::tie(b.forwardThread, b.sequence);
}

bool comesEarlier(const SequencedSpan& a, const SequencedSpan& b) {
  return std::tie(a.forwardThread, a.sequence, a.start) <
         std::tie(b.forwardThread, b.sequence, b.start);
}

/// Marks the names of autograd's bookkeeping around a node. Its spans carry the node's sequence
/// number, but are not forward operators.
std::vector<bool> wrapperNames(const Trace& trace) {
  std::vector<bool> isWrapper;
  for (const TraceName& name : trace.names) {
    isWrapper.push_back(detail::base::startsWith(name.text, detail::profile::kAutogradNodePrefix));
  }
  return isWrapper;
}

/// Returns the spans of a kind that have a sequence number, in the order of comesEarlier().
std::vector<SequencedSpan> sequencedSpans(const Trace& trace, SpanKind kind) {
  const std::vector<bool> isWrapper = wrapperNames(trace);
  std::vector<SequencedSpan> found;
  for (std::size_t t = 0; t < trace.threads.size(); ++t) {
    const std::vector<TraceSpan>& spans = trace.threads[t].spans;
    for (std::size_t s = 0; s < spans.size(); ++s) {
      const TraceSpan& span = spans[s];
      if (span.sequence >= 0 && trace.names[span.name].kind == kind && !isWrapper[span.name]) {
        found.push_back({span.sequence, span.start, static_cast<std::uint32_t>(s),
                         static_cast<std::uint32_t>(t), span.forwardThread});
      }
    }
  }
  // Sequence numbers increase with time on each thread.
  if (!std::is_sorted(found.begin(), found.end(), comesEarlier)) {
    std::stable_sort(found.begin(), found.end(), comesEarlier);
  }
  return found;
}

}  // namespace

std::string deviceName(int type, int index) {
  static constexpr const char* kTypes[] = {
      "cpu",  "cuda", "mkldnn", "opengl", "opencl", "ideep", "hip",
      "fpga", "maia", "xla",    "vulkan", "metal",  "xpu",   "mps",
      "meta", "hpu",  "ve",     "lazy",   "ipu",    "mtia",  "privateuseone"};
  const auto known = static_cast<int>(std::size(kTypes));
  const std::string name =
      type >= 0 && type < known ? kTypes[type] : "device" + std::to_string(type);
  return index < 0 || type == 0 ? name : name + ":" + std::to_string(index);
}

void nestSpans(std::vector<TraceSpan>* spans) {
  if (!std::is_sorted(spans->begin(), spans->end(), detail::profile::comesFirst)) {
    std::stable_sort(spans->begin(), spans->end(), detail::profile::comesFirst);
  }
  std::vector<TraceSpan*> open;  // each within the one before it
  for (TraceSpan& span : *spans) {
    if (!detail::profile::takesTimeOfThread(span)) {
      continue;
    }
    span.flags &= static_cast<std::uint8_t>(~kOverlap);  // of an earlier call
    while (!open.empty() && detail::profile::endOf(*open.back()) <= span.start) {
      open.pop_back();
    }
    if (open.empty() || detail::profile::endOf(span) <= detail::profile::endOf(*open.back()) ||
        removeCrossed(span, &open)) {
      open.push_back(&span);
    } else {
      span.flags |= kOverlap;
    }
  }
}

std::vector<TraceLink> linkBackward(const Trace& trace) {
  const std::vector<SequencedSpan> nodes = sequencedSpans(trace, SpanKind::kBackward);
  if (nodes.empty()) {
    return {};
  }
  const std::vector<SequencedSpan> operators = sequencedSpans(trace, SpanKind::kOperator);
  std::vector<TraceLink> links;
  auto from = operators.begin();
  for (auto to = nodes.begin(); to != nodes.end(); ++to) {
    for (; from != operators.end() && comesEarlier(*from, *to); ++from) {
    }
    if (from == operators.begin() || isOfEarlierCall(*(from - 1), *to)) {
      continue;
    }
    links.push_back({(from - 1)->thread, (from - 1)->span, to->thread, to->span});
    // The call has its arrow; its other spans get none.
    for (; to + 1 != nodes.end() && !isOfEarlierCall(*to, *(to + 1)); ++to) {
    }
  }
  const auto startOf = [&](const TraceLink& link) {
    return trace.threads[link.toThread].spans[link.toSpan].start;
  };
  std::stable_sort(links.begin(), links.end(),
                   [&](const TraceLink& a, const TraceLink& b) { return startOf(a) < startOf(b); });
  return links;
}

std::vector<TraceLink> linkLaunches(const Trace& trace) {
  std::unordered_map<std::uint32_t, std::pair<std::size_t, std::size_t>> calls;
  for (std::size_t thread = 0; thread < trace.threads.size(); ++thread) {
    const std::vector<TraceSpan>& spans = trace.threads[thread].spans;
    for (std::size_t i = 0; i < spans.size(); ++i) {
      if (spans[i].correlation != 0 && trace.names[spans[i].name].kind == SpanKind::kRuntime) {
        calls.emplace(spans[i].correlation, std::make_pair(thread, i));
      }
    }
  }
  std::vector<TraceLink> links;
  for (std::size_t thread = 0; !calls.empty() && thread < trace.threads.size(); ++thread) {
    const std::vector<TraceSpan>& spans = trace.threads[thread].spans;
    for (std::size_t i = 0; i < spans.size(); ++i) {
      if (spans[i].correlation == 0 || trace.names[spans[i].name].kind != SpanKind::kDevice) {
        continue;
      }
      if (const auto call = calls.find(spans[i].correlation); call != calls.end()) {
        links.push_back({call->second.first, call->second.second, thread, i});
      }
    }
  }
  return links;
}

std::int64_t stepAt(const Trace& trace, std::int64_t time) {
  const auto behind =
      std::upper_bound(trace.steps.begin(), trace.steps.end(), time,
                       [](std::int64_t t, const TraceStep& step) { return t < step.start; });
  if (behind == trace.steps.begin()) {
    return -1;
  }
  const TraceStep& step = *(behind - 1);
  return time < step.start + step.duration ? step.number : -1;
}

}  // namespace steptape
