// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "steptape/profile/trace.h"

#include "tools/steptape/traces/trace_search.h"

namespace CLI {
class App;
}

namespace steptape::tools {

/// Processes that are shown together, such as the ranks of a job.
struct TraceSet {
  std::vector<Trace> traces;       ///< Ordered by rank, then as given.
  std::vector<std::string> files;  ///< The file of each trace.

  /// Returns short unique names: "rank 3", with the process if ranks are not unique, or "process
  /// 4242" for a process outside a job, with the name of its file if that is not unique either.
  std::vector<std::string> labels() const;
  /// Returns names with host and process, for a list: "rank 3 on node8, process 4242 (train)". Like
  /// those of labels(), they are unique.
  std::vector<std::string> longLabels() const;
};

/// Returns whether the file states when the trace began. JAX's and TensorFlow's JSON does not: its
/// times begin with 0, and Trace::originNanos is a few microseconds.
inline bool hasStart(const Trace& trace) {
  constexpr std::int64_t kYear2000 = 946'684'800'000'000'000;
  return trace.originNanos >= kYear2000;
}

/// Adds the argument TRACE..., files and directories.
void addTracesArgument(CLI::App* command, std::vector<std::string>* paths);

/// Reads each file once, and for directories the newest profile; see newestTraceFiles(). In a
/// directory, only the newest trace of each rank counts; of traces without a rank, the newest of
/// each process.
///
/// Messages on standard error name each file that cannot be read, or only in part, and count the
/// ranks of a job that have no file.
/// @throws Error if any file cannot be read, because the others alone would mislead;
///         CLI::ValidationError if a file does not have the name of a trace.
TraceSet readTraces(const std::vector<std::string>& paths);

/// @throws CLI::ValidationError with --output if its name has no ending of a trace format, or one
///         of a format that cannot hold several processes.
/// @param endings The endings that the message lists.
void checkTraceOutput(const std::string& path, std::size_t processes,
                      const char* endings = kTraceEndings);

/// Checks the name of a file for any number of processes.
/// @param option The option that names it, for the message.
/// @throws CLI::ValidationError if it does not end in .json, .json.gz, .pftrace or .pftrace.gz.
void checkJobTraceOutput(const std::string& path, const char* option = "--output");

/// Writes traces in the format of the path's ending. REQUIRES: checkTraceOutput() or
/// checkJobTraceOutput().
/// @throws Error with the path and the operating system's error message.
void writeTraces(const std::string& path, const std::vector<Trace>& traces);

}  // namespace steptape::tools
