// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace steptape::tools {

/// The forms of a trace's file, by its name.
enum class TraceForm {
  kUnknown,
  kJson,            ///< ".json"
  kCompressedJson,  ///< ".json.gz"
  kXPlane,          ///< ".xplane.pb"
};

TraceForm traceFormOf(const std::string& path);

/// What messages say of the names that traceFormOf() knows.
inline constexpr char kTraceEndings[] = ".json, .json.gz or .xplane.pb";

/// The files of the newest profile in or below a directory, a file for each process, by name:
/// "*.pt.trace.json", "*.pt.trace.json.gz" and "*.xplane.pb", the latter as
/// "plugins/profile/<session>/<host>.xplane.pb".
///
/// A profile is as old as the time in the names, where they have one as ours and Kineto's, else as
/// the files. Files of one form that belong to it lie in the session's directory, or are the newest
/// ones of their process and at most a minute older than the newest of all. Of both forms, which a
/// window of ours has, those of XProf count.
///
/// @throws Error(kIoError) if there is none, or if a directory cannot be read.
std::vector<std::string> newestTraceFiles(const std::string& directory);

}  // namespace steptape::tools
