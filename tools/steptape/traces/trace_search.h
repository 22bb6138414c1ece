// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace steptape::tools {

/// The formats of trace files, by name.
enum class TraceForm {
  kUnknown,
  kJson,                ///< ".json"
  kCompressedJson,      ///< ".json.gz"
  kPerfetto,            ///< ".pftrace", which is written but not read
  kCompressedPerfetto,  ///< ".pftrace.gz", likewise
  kXPlane,              ///< ".xplane.pb"
  kCompressedXPlane,    ///< ".xplane.pb.gz", which is read but not written
};

TraceForm traceFormOf(const std::string& path);

// The names of traces that can be read and of those that can be written, for messages.
inline constexpr char kReadableEndings[] = ".json, .json.gz, .xplane.pb or .xplane.pb.gz";
inline constexpr char kTraceEndings[] = ".json, .json.gz, .pftrace, .pftrace.gz or .xplane.pb";

/// Returns the files of the newest profile in or below a directory, one per process, by name:
/// "*.pt.trace.json", "*.pt.trace.json.gz" and "*.xplane.pb", the latter as
/// "plugins/profile/<session>/<host>.xplane.pb". Of a session without such a file, those of its
/// "<host>.trace.json.gz" that JAX and TensorFlow write next to it.
///
/// The age of a profile is the time in the names, as Steptape and Kineto write it, else that of the
/// files. Its files are those of a session directory, or the newest ones of each process that are
/// at most a minute older than the newest of all. Of a window of Steptape's profiler, which has
/// both formats, the XProf files count.
///
/// @throws Error(kIoError) if there is no profile, or if a directory cannot be read.
std::vector<std::string> newestTraceFiles(const std::string& directory);

}  // namespace steptape::tools
