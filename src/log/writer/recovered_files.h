// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "log/writer/dead_process.h"
#include "log/writer/recovery_report.h"
#include "process/blackbox/process_box.h"

namespace steptape::detail::log {

/// Brings to event files what a dead process had still to write. A file that has got its bytes
/// before, from a recovery that was killed, does not get them twice.
///
/// @threads Not thread-safe: one thread at a time.
class RecoveredFiles {
 public:
  /// @param box    Of the process; outlives this object, as `report` does.
  /// @param report Gets the files, the number of values in them, and what went wrong.
  RecoveredFiles(const process::DeadBox& box, RecoveryReport::Process* report)
      : box_(box), report_(*report) {}

  /// Finds out how much of a write the stream's file has got: the stream then continues after its
  /// last whole record, and a part of a record after it is cut off.
  ///
  /// @param missing Set to how many of the write's last scalars the file lacks.
  /// @return false if this cannot be known now; the report then says why.
  bool settle(const std::string& directory, const AnnouncedWrite& write,
              DeadProcess::Stream* stream, std::uint64_t* missing);

  /// Appends to the stream's file what it lacks. If there is none yet, or if it holds other bytes
  /// than its writer left, makes a new one.
  /// @param directory Of the stream, where it is today.
  void bring(const std::string& directory, const DeadProcess::Stream& stream);

 private:
  void append(const std::string& path, std::uint64_t size, const DeadProcess::Stream& stream);
  void writeNewFile(const std::string& directory, const DeadProcess::Stream& stream);
  void finish(int error, const std::string& path, std::uint64_t values);

  const process::DeadBox& box_;
  RecoveryReport::Process& report_;
};

}  // namespace steptape::detail::log
