// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "steptape/profile/trace.h"

#include "profile/trace/trace_tables.h"

namespace steptape::detail::profile {

/// The content of a Chrome trace, sorted by rows. All times are those of the file.
struct ChromeContents {
  /// Duration of a span whose end has not been read.
  static constexpr std::int64_t kUnfinished = -1;

  /// A thread or a stream.
  struct Row {
    std::size_t process = 0;  ///< Index into `processes`.
    TraceThread thread;
    std::uint16_t torchThread = 0;  ///< Its number in "Fwd thread id"; 0: unknown.
    bool isUsed = false;            ///< Whether it has events.
  };
  /// A process or a device: anything with a process id in the file.
  struct Process {
    std::string id;
    /// Its threads are in `rows`; its steps and memory events have indices into `rows`.
    Trace trace;
    bool isOurs = false;  ///< writeChromeTrace() wrote it.
    std::optional<int> device;
    std::string hostId;  ///< For a device: the process that used it; empty if unknown.
  };
  /// An arrow from the row of a forward operator to the start of a backward node.
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
  std::uint64_t strangers = 0;      ///< Spans, or parts of them, without a place in a Trace.
  std::uint64_t restoredSteps = 0;  ///< Steps that assembleTraces() began earlier than the file.
};

/// Returns a Trace for each process; each device belongs to one of them.
///
/// @param contents What is left of it is its numbers.
std::vector<Trace> assembleTraces(ChromeContents* contents);

}  // namespace steptape::detail::profile
