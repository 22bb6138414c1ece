// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "steptape/process/zone.h"

#include "process/spans/span_collector.h"

namespace steptape::test {

/// A recorded span with the texts of its numbers.
struct SeenSpan {
  std::string name;
  SpanKind kind;
  int depth;
  bool isDetached;
  std::uint64_t startTicks;
  std::uint64_t endTicks;
  SpanDetails details;

  bool encloses(const SeenSpan& inner) const {
    return startTicks <= inner.startTicks && inner.endTicks <= endTicks;
  }
};

inline void PrintTo(const SeenSpan& span, std::ostream* out) {
  *out << spanKindName(span.kind) << " '" << span.name << "' {" << span.details.arguments << "}";
}

/// Records the spans of the process during its lifetime.
class SpanRecording {
 public:
  SpanRecording() { collector_.startRecording(); }

  /// Returns the spans since the last call, by thread name, in the order of their ends.
  std::map<std::string, std::vector<SeenSpan>> take() {
    std::map<std::string, std::vector<SeenSpan>> spansByThread;
    collector_.drain([&](const detail::process::SpanBatch& batch) {
      for (const SpanRecord& record : batch.records) {
        spansByThread[batch.threadName].push_back(
            {spanName(record.nameId), record.kind, record.depth, (record.flags & kDetached) != 0,
             record.startTicks, record.endTicks, spanDetails(record.detailsId())});
      }
    });
    return spansByThread;
  }

 private:
  detail::process::SpanCollector collector_{4096};
};

inline std::vector<std::string> namesOf(const std::vector<SeenSpan>& spans) {
  std::vector<std::string> names;
  for (const SeenSpan& span : spans) {
    names.push_back(span.name);
  }
  return names;
}

}  // namespace steptape::test
