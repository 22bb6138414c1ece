// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "steptape/trace/trace.h"

#include "tools/steptape/traces/trace_search.h"

namespace CLI {
class App;
}

namespace steptape::tools {

/// Processes that are looked at together, such as the ranks of a job.
struct TraceSet {
  std::vector<Trace> traces;       ///< By rank; equal ones as they were given.
  std::vector<std::string> files;  ///< That each one was read from.

  /// What tells each one from the others: "rank 3", with its process where ranks are not unique, or
  /// "process 4242" of one that belongs to no job.
  std::vector<std::string> labels() const;
  /// The same with host and process, for a list: "rank 3 on node8, process 4242 (train)".
  std::vector<std::string> longLabels() const;
};

/// Adds the argument TRACE..., files and directories.
void addTracesArgument(CLI::App* command, std::vector<std::string>* paths);

/// Reads files, and of directories the newest profile, see newestTraceFiles(), each file once. In a
/// directory each rank counts once, by its newest trace.
///
/// A message on the error stream names each file that cannot be read, and each rank of a job that
/// none of the files is of.
/// @throws Error if any file cannot be read, since the others alone would tell another story;
///         CLI::ValidationError if a file's name is not that of a trace.
TraceSet readTraces(const std::vector<std::string>& paths);

/// @throws CLI::ValidationError naming --output if its ending stands for no form of traces, or for
///         one that cannot hold several processes.
/// @param endings Those that the message offers.
void checkTraceOutput(const std::string& path, std::size_t processes,
                      const char* endings = kTraceEndings);

/// Writes traces in the form that the path's ending names. REQUIRES: checkTraceOutput().
/// @throws Error with the path and the system's reason.
void writeTraces(const std::string& path, const std::vector<Trace>& traces);

}  // namespace steptape::tools
