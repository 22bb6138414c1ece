// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/trace_file.h"

#include <algorithm>
#include <cstdio>
#include <map>

namespace steptape::detail::profile {

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

std::vector<std::string> fileProcessNames(ArrayView<const Trace> processes) {
  const auto rankOf = [](const Trace& trace) { return "rank " + std::to_string(trace.rank); };
  const auto processOf = [](const Trace& trace) {
    return "process " + std::to_string(trace.processId);
  };
  const Trace& first = processes[0];
  if (processes.size() == 1) {
    return {first.processName.empty() ? rankOf(first) : first.processName};
  }
  const bool haveRanks = std::any_of(processes.begin(), processes.end(), hasRank);
  const bool haveOneName = std::all_of(processes.begin(), processes.end(), [&](const Trace& trace) {
    return trace.processName == first.processName;
  });
  std::map<int, int> twins;  // number of processes by rank
  for (const Trace& trace : processes) {
    ++twins[trace.rank];
  }
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (const Trace& trace : processes) {
    std::string name = !haveRanks               ? processOf(trace)
                       : twins[trace.rank] == 1 ? rankOf(trace)
                                                : rankOf(trace) + ", " + processOf(trace);
    if (!trace.processName.empty() && (!haveRanks || !haveOneName)) {
      name += " (" + trace.processName + ")";
    }
    const std::string base = name;
    for (int number = 2; !taken.insert(name).second; ++number) {
      name = base + " #" + std::to_string(number);
    }
    names.push_back(name);
  }
  return names;
}

std::string processLabel(const Trace& trace) {
  if (trace.worldSize <= 1) {
    return "CPU";
  }
  return "rank " + std::to_string(trace.rank) + " of " + std::to_string(trace.worldSize) +
         (trace.hostName.empty() ? "" : " on " + trace.hostName);
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

}  // namespace steptape::detail::profile
