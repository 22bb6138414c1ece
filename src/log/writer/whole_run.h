// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/events/event.h"

#include "base/replacement_file.h"
#include "events/framing/record_buffer.h"
#include "log/writer/tag_descriptions.h"

namespace steptape::detail::log {

/// A new run of one event file, which appears when it is whole, or never:
///
///     WholeRun run("runs/mean", "aggregate");
///     run.add(event);
///     run.finish();
///     run.appear();
///
/// Until then the file has a name that no reader looks for. The destructor removes what has not
/// appeared, and the directories that were made for it. Of several runs, those that are destroyed
/// in the reverse order leave no directory.
///
/// @threads Not thread-safe: one thread at a time.
class STEPTAPE_EXPORT WholeRun {
 public:
  /// Writes nothing yet.
  /// @param call Of the user, for messages.
  /// @throws Error(kFailedPrecondition) if the directory has event files;
  ///         Error(kInvalidArgument) if it is a URL.
  WholeRun(std::string directory, std::string call);
  WholeRun(const WholeRun&) = delete;
  WholeRun& operator=(const WholeRun&) = delete;
  ~WholeRun();

  const std::string& directory() const { return directory_; }

  /// Adds an event. Only the first value of a tag keeps the tag's metadata.
  /// @throws Error(kIoError) if it cannot be written; Error(kInvalidArgument) if its wall time is
  ///         not finite.
  void add(event::Event event);

  /// Waits until all is on the disk. A run without events has the first records of every file.
  /// @throws Error(kIoError) if it cannot be written.
  void finish();

  /// Gives the file its name.
  /// @throws Error(kFailedPrecondition) if the directory has got event files meanwhile;
  ///         Error(kIoError).
  void appear();

 private:
  void checkPlace() const;
  void open();
  void write();

  const std::string directory_;
  const std::string call_;
  std::vector<std::filesystem::path> made_;  // directories, the deepest first
  std::optional<base::ReplacementFile> file_;
  events::RecordBuffer pending_;
  TagDescriptions descriptions_;
  bool hasAppeared_ = false;
};

}  // namespace steptape::detail::log
