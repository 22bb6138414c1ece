// SPDX-License-Identifier: Apache-2.0
#include "log/writer/recovery.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/process_stat.h"
#include "log/writer/dead_process.h"
#include "log/writer/directory_place.h"
#include "log/writer/process_recovery.h"
#include "process/blackbox/box_file.h"
#include "process/blackbox/box_folder.h"
#include "process/blackbox/box_header.h"
#include "process/blackbox/dead_state.h"
#include "process/blackbox/process_box.h"
#include "process/blackbox/rank_state.h"

namespace steptape::detail::log {
namespace {

bool hasRun(const DeadProcess& process, const DirectoryPlace& place, bool below) {
  return std::any_of(process.runs.begin(), process.runs.end(), [&](const auto& known) {
    const NamedRun& run = known.second;
    return run.directory == place.directory ||
           (below && run.directory.rfind(place.directory + "/", 0) == 0) ||
           run.identity.isSameAs(place.identity);
  });
}

/// Reads the names of a box, without claiming it: most boxes belong to other runs.
///
/// @return whether it names no run: its process has not begun to log, has ended to do so, or never
///         logs. False also if the names cannot be read.
bool namesNoRun(const process::BoxName& box, DeadProcess* named) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 30;
  *named = {};
  if (!process::hasBoxFile(box, "names")) {
    return true;
  }
  std::string bytes;
  if (!process::readBoxFile(box, "names", kMostBytes, &bytes).ok()) {
    return false;
  }
  if (bytes.size() <= process::BoxHeader::kBytes) {
    return true;
  }
  *named = DeadProcess::decodeNames(std::move(bytes), box.number);
  return named->runs.empty() && named->problems.empty();
}

/// Removes what a process without a run has left if it died while its first writer started or its
/// last one ended. The state stays.
void removeUnused(const process::BoxName& name) {
  const bool hasState = process::hasBoxFile(name, process::kStatePart);
  if (hasState && !process::hasBoxFile(name, "rings") && !process::hasBoxFile(name, "names")) {
    return;
  }
  process::DeadBox box;
  DeadProcess named;
  // Again, now that the process cannot change it.
  if (box.claim(name) == process::DeadBox::State::kDead && namesNoRun(name, &named)) {
    DeadProcess::removeLog(&box);
  }
}

/// Until when processes that are being killed are waited for.
class Patience {
 public:
  /// Waits a little.
  /// @return false if that has been long enough.
  bool wait() {
    if (std::chrono::steady_clock::now() >= end_) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return true;
  }

 private:
  const std::chrono::steady_clock::time_point end_ =
      std::chrono::steady_clock::now() + std::chrono::seconds(2);
};

/// Claims the box of a process that has died or is dying.
/// @param report Gets a process that lives on, or takes too long to die.
/// @return whether the box is claimed.
bool claim(const process::BoxName& name, const DeadProcess& named, Patience* patience,
           process::DeadBox* box, RecoveryReport* report) {
  const process::DeadBox::State state = box->claim(name);
  process::BoxHeader header;
  if (state != process::DeadBox::State::kLives ||
      !process::readBoxHeader(name, "names", &header).ok()) {
    return state == process::DeadBox::State::kDead;
  }
  bool isDying = false;
  do {
    if (!process::hasLivingProcess(name, header)) {
      // It has ended just now, or another recovery has the box.
      return box->claim(name) == process::DeadBox::State::kDead;
    }
    isDying = process::isKnownToLive(header) && base::isDying(std::to_string(header.pid));
  } while (isDying && patience->wait());
  RecoveryReport::Process process;
  process.pid = header.pid;
  process.host = process::BoxHeader::textOf(header.host);
  process.program = process::BoxHeader::textOf(header.program);
  for (const auto& run : named.runs) {
    process.directories.push_back(run.second.directory);
  }
  if (isDying) {
    process.keep("it was killed, but has not ended yet; expected it to within two seconds");
  }
  (isDying ? report->processes : report->living).push_back(std::move(process));
  return false;
}

}  // namespace

RecoveryReport recoverRuns(const RecoveryOptions& options) {
  RecoveryReport report;
  const bool isForAll = options.directory.empty();
  const DirectoryPlace wanted = isForAll ? DirectoryPlace() : placeOf(options.directory);
  const std::vector<process::BoxName> boxes = process::listBoxes(process::boxFolder());
  std::vector<process::BoxName> statesOnly;
  Patience patience;
  for (const process::BoxName& name : boxes) {
    DeadProcess named;
    const bool isWithoutRun = namesNoRun(name, &named);
    if (!isForAll && isWithoutRun) {
      removeUnused(name);
      if (!wanted.identity.exists() || !process::moveDeadState(name, wanted.directory)) {
        statesOnly.push_back(name);
      }
      continue;
    }
    if (!isForAll && !hasRun(named, wanted, options.below)) {
      continue;
    }
    process::DeadBox box;
    if (!claim(name, named, &patience, &box, &report)) {
      continue;
    }
    DeadProcess process = DeadProcess::read(box);
    if (!process::hasBoxFile(name, "log") || namesNoRun(name, &named)) {
      // What a process that was killed while it ended, or a killed recovery, has left to do.
      ProcessRecovery(&box, std::move(process), wanted, options.discardMissing).removeBox();
      process::removeOldState(&box);
      continue;
    }
    if (process.runs.empty() || (!isForAll && !hasRun(process, wanted, options.below))) {
      continue;
    }
    report.processes.push_back(
        ProcessRecovery(&box, std::move(process), wanted, options.discardMissing).run());
  }
  process::removeOldestStates(statesOnly);
  return report;
}

}  // namespace steptape::detail::log
