// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tools/steptape/hosts/job_views.h"

namespace steptape::tools {

/// What a job that died has left.
class Aftermath {
 public:
  /// Reads it from all machines of the job. Never fails: the job matters more than what is told
  /// about it.
  ///
  /// @param place Where it ran: at most one path, the directory of its run.
  /// @param since When it was started, in seconds since 1970: earlier processes are not meant.
  Aftermath(const JobSelection& place, double since);
  Aftermath(const Aftermath&) = delete;  // the verdict points into the jobs
  Aftermath& operator=(const Aftermath&) = delete;

  /// Returns whether the kernel has killed the process that died first for lack of memory.
  bool ranOutOfMemory() const;

  /// Returns what the first dead rank died of, on one line; empty if it is not known.
  std::string headline() const;

  /// Reports it, as lines on standard error below the one that says how the job ended. Recovers
  /// what its processes on other machines had logged, since its ranks may be elsewhere after the
  /// next start.
  void report() const;

 private:
  void reportDeath() const;

  std::string run_;  // empty: there is nothing to report
  std::optional<JobSource> source_;
  std::vector<Job> jobs_;
  Verdict verdict_;  // of the newest job
  std::vector<std::string> problems_;
  std::string failure_;  // why it could not be read; empty if it could
};

/// What the processes that were started since then and logged into the run have left.
struct Remains {
  std::size_t died = 0;
  std::optional<int> exitCode;  ///< Of the first that called exit() while its job ran.
};
Remains remainsSince(const JobSelection& place, double since);

}  // namespace steptape::tools
