// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "steptape/base/export.h"

namespace steptape {

struct Damage;

/// The files of one run: a directory with event files, one curve per tag in TensorBoard.
struct RunFiles {
  std::string name;                ///< Relative to the log directory; "." for that itself.
  std::string directory;           ///< The path of the log directory as given, plus the name.
  std::vector<std::string> files;  ///< Paths, by name: the order of writing.
  /// Whether all event files of the directory belong to the run, including future ones.
  bool isWholeDirectory = false;
};

/// Finds the runs below `path`, in the order of their names.
///
/// Event files have `tfevents` in their names, as TensorBoard expects, or are MindSpore's
/// (`events.out.events.summary.*_MS`), which hold the same kinds of values.
///
/// Follows links to directories, and visits each directory once: a directory below `path` keeps its
/// own name rather than that of a link. Skips unreadable directories, as TensorBoard does.
///
/// @param path       A log directory, the directory of a run, or one event file, which is a run.
/// @param unreadable Receives the directories below `path` that could not be read, each with the
///                   reason, whose runs are missing; may be null. One that was removed meanwhile is
///                   not among them.
/// @return the runs; empty if there is no event file.
/// @throws Error(kIoError) if `path` does not exist or cannot be read.
/// @threads Thread-safe.
STEPTAPE_EXPORT std::vector<RunFiles> listRuns(const std::string& path,
                                               std::vector<Damage>* unreadable = nullptr);

/// Lists the event files in `directory`, but not below it, in the order of their names.
///
/// @return paths; empty if the directory cannot be read.
/// @threads Thread-safe.
STEPTAPE_EXPORT std::vector<std::string> listEventFiles(const std::string& directory);

/// Returns the bytes of the run's files; missing files count 0.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT std::uint64_t totalBytes(const RunFiles& run);

}  // namespace steptape
