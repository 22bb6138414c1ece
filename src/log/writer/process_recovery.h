// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "log/writer/dead_process.h"
#include "log/writer/directory_place.h"
#include "log/writer/recovered_files.h"
#include "log/writer/recovery_report.h"
#include "process/blackbox/process_box.h"

namespace steptape::detail::log {

/// Recovers one dead process: makes events of what its rings hold, brings all bytes to the files of
/// its runs, and removes its box.
///
/// @threads Not thread-safe: one thread at a time.
class ProcessRecovery {
 public:
  /// @param box     Outlives this object, as `wanted` does.
  /// @param process What the box holds.
  /// @param wanted  The directory that was asked for, which may be that of a run that was moved.
  /// @param discardMissing See RecoveryOptions.
  ProcessRecovery(process::DeadBox* box, DeadProcess process, const DirectoryPlace& wanted,
                  bool discardMissing);

  RecoveryReport::Process run();

  /// Removes what is not needed any more. The state stays if it belongs to no run.
  void removeBox();

 private:
  bool settleWrites();
  void encodeEntries();
  const std::string* directoryOf(const NamedStream& stream);
  bool findDirectory(const NamedStream& stream, std::string* directory);
  bool copyState();

  process::DeadBox& box_;
  DeadProcess process_;
  const DirectoryPlace& wanted_;
  const bool discardMissing_;
  RecoveryReport::Process report_;
  RecoveredFiles files_;
  std::map<std::uint32_t, std::string> directories_;  // by stream; empty: there is none
};

}  // namespace steptape::detail::log
