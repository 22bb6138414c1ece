// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "steptape/base/export.h"
#include "steptape/base/status.h"
#include "steptape/log/writer_options.h"

#include "process/blackbox/directory_lock.h"

namespace steptape::detail::log {

/// That this process writes a run, for other processes to see.
struct RunClaim {
  /// Null if others may write the run, or if the claim cannot be written.
  std::shared_ptr<process::DirectoryLock> lock;
  /// kFailedPrecondition: another process has the run. Any other failure: why others cannot see the
  /// claim; the run can be written nevertheless.
  Status status;

  bool isOccupied() const {
    return !status.ok() && lock == nullptr && status.code() == ErrorCode::kFailedPrecondition;
  }
};

/// Claims the run in `directory`, which is created. Does nothing under OccupiedRun::kShare.
RunClaim claimRun(const std::string& directory, const WriterOptions& options);

/// Under OccupiedRun::kNewDirectory, changes `*directory` to the first of `<directory>`,
/// `<directory>_2`, `<directory>_3`, … that can be claimed, and WriterOptions::mirror likewise;
/// else claims it as claimRun() does.
STEPTAPE_EXPORT RunClaim chooseRun(std::string* directory, WriterOptions* options);

}  // namespace steptape::detail::log
