// SPDX-License-Identifier: Apache-2.0
#include "trace/trace_file.h"

#include <algorithm>
#include <cstdio>

namespace steptape::detail {

std::int64_t fileBaseNanos(ArrayView<const Trace> processes) {
  const std::int64_t origin =
      std::min_element(processes.begin(), processes.end(), [](const Trace& a, const Trace& b) {
        return a.originNanos < b.originNanos;
      })->originNanos;
  return origin - origin % kFileBasePeriodNanos;
}

std::int64_t takeProcessId(std::int64_t wanted, std::set<std::int64_t>* taken) {
  while (!taken->insert(wanted).second) {
    ++wanted;
  }
  return wanted;
}

std::vector<std::int64_t> fileProcessIds(ArrayView<const Trace> processes,
                                         std::set<std::int64_t>* taken) {
  const bool isOnly = processes.size() == 1;
  std::vector<std::int64_t> ids;
  for (const Trace& trace : processes) {
    ids.push_back(takeProcessId(isOnly ? trace.processId : trace.rank, taken));
  }
  return ids;
}

std::string traceFileStem(const Trace& trace) {
  std::string name = trace.hostName;
  std::replace(name.begin(), name.end(), '/', '_');
  if (trace.worldSize > 1) {
    char rank[24];
    std::snprintf(rank, sizeof rank, "_rank%05d", trace.rank);
    name += rank;
  }
  return name + "_" + std::to_string(trace.processId) + "." + std::to_string(trace.originNanos);
}

}  // namespace steptape::detail
