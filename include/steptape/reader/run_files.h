// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "steptape/base/export.h"

namespace steptape {

/// One run: a directory with event files, one curve per tag in TensorBoard.
struct RunFiles {
  std::string name;                ///< Relative to the log directory; "." for that itself.
  std::string directory;           ///< The path as given, with the name.
  std::vector<std::string> files;  ///< Paths, in the order of their names: that of their writing.
  /// Whether all event files of the directory belong to the run, those that are yet to come too.
  bool isWholeDirectory = false;
};

/// Finds the runs below `path`, in the order of their names.
///
/// Links to directories are followed, each directory once: one that lies below `path` itself has
/// its own name, not a link's. What cannot be read below `path` is left out, as TensorBoard does.
///
/// @param path A log directory, a run's directory, or one event file, which is a run of its own.
/// @return empty if there is no event file.
/// @throws Error(kIoError) if `path` does not exist or cannot be read.
/// @threads Thread-safe.
STEPTAPE_EXPORT std::vector<RunFiles> listRuns(const std::string& path);

/// The event files in `directory`, not below it, in the order of their names.
///
/// @return empty if the directory cannot be read.
/// @threads Thread-safe.
STEPTAPE_EXPORT std::vector<std::string> listEventFiles(const std::string& directory);

/// The bytes of the run's files; one that is not there counts nothing.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT std::uint64_t totalBytes(const RunFiles& run);

}  // namespace steptape
