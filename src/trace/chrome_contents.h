// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "steptape/trace/trace.h"

#include "trace/trace_tables.h"

namespace steptape::detail {

/// What a Chrome trace holds, sorted by rows; all times are those of the file.
struct ChromeContents {
  /// Instead of the duration of a span whose end has not come.
  static constexpr std::int64_t kUnfinished = -1;

  /// A thread or a stream.
  struct Row {
    std::size_t process = 0;  ///< Index into `processes`.
    TraceThread thread;
    std::uint16_t torchThread = 0;  ///< What "Fwd thread id" calls it; 0: unknown.
    bool isUsed = false;            ///< Something happened there.
  };
  /// What has a process id in the file: a process, or a device.
  struct Process {
    std::string id;
    /// Its threads are in `rows`, and its steps and memory events have indices of `rows`.
    Trace trace;
    bool isOurs = false;  ///< writeChromeTrace() has stated its facts.
    std::optional<int> device;
    std::string hostId;  ///< Of a device: the process that used it; empty if unknown.
  };
  /// From the row of a forward operator to the begin of a backward node.
  struct Flow {
    std::optional<std::size_t> from;
    std::optional<std::size_t> to;
    std::int64_t end = 0;
  };

  std::vector<Process> processes;
  std::vector<Row> rows;
  std::vector<Flow> flows;
  TraceTables tables;

  std::int64_t baseNanos = 0;
  std::optional<std::pair<std::int64_t, std::int64_t>> window;  ///< Start and duration.
  std::string hostName;
  int rank = 0;
  int worldSize = 1;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::uint64_t strangers = 0;  ///< Events that no Trace can hold.
};

/// A Trace for each process; each device belongs to one of them.
std::vector<Trace> assembleTraces(ChromeContents contents);

}  // namespace steptape::detail
