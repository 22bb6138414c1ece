// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "log/writer/directory_place.h"
#include "log/writer/kill_proof_log.h"
#include "log/writer/run_streams.h"
#include "log/writer/series_table.h"

namespace steptape::detail::log {

/// Tells the black box what the numbers of runs, streams and series mean that ring entries and the
/// log refer to. Does nothing while the log is not open.
///
/// @threads Not thread-safe: one thread at a time.
class BoxNames {
 public:
  /// @param log Outlives this object.
  explicit BoxNames(KillProofLog* log) : log_(*log) {}

  /// Begins anew, for a new box, which knows no names.
  void clear() { streams_.clear(); }

  /// Gives the run a number, and names it and its main stream.
  /// @param place Where its directory is.
  void addRun(RunStreams* run, const DirectoryPlace& place);
  void removeRun(const RunStreams* run) noexcept;

  /// Names the series, and its stream if this is the first one of it.
  void addSeries(std::uint32_t id, const RegisteredSeries& series);

 private:
  struct KnownRun {
    const RunContext* context;
    std::uint32_t number;
    std::string directory;  // absolute
  };

  void addStream(const KnownRun& run, const EventStream& stream);

  KillProofLog& log_;
  std::vector<KnownRun> runs_;
  std::unordered_set<std::uint32_t> streams_;  // those with a name
  std::uint32_t lastRun_ = 0;
};

}  // namespace steptape::detail::log
