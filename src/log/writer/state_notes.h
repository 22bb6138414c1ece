// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "log/writer/series_table.h"
#include "process/blackbox/state_page.h"

namespace steptape::detail::log {

/// What the backend tells the state of the process: that it is alive, the last values, the last
/// step, and the memory.
///
/// @threads Not thread-safe: only for the backend.
class StateNotes {
 public:
  /// Notes what has changed. Call it in each pass of the backend.
  /// @cost Some stores for each changed series, of at most 128; once a second, some reads of small
  ///       files in /proc and /sys.
  void noteState(const SeriesTable& series) noexcept;

 private:
  /// A series with a place in the state.
  struct Kept {
    std::size_t series;
    std::uint32_t place;
  };

  void noteAll(const SeriesTable& series);
  void noteValues(const SeriesTable& series);
  void findPlaces(const SeriesTable& series);

  process::StatePage* page_ = nullptr;  // not that of the process before fork()
  std::vector<Kept> kept_;
  std::vector<std::uint32_t> free_;  // places of series that no longer exist
  std::size_t seen_ = 0;             // series that findPlaces() has looked at
  bool hasStep_ = false;
  std::int64_t lastStep_ = 0;
  std::chrono::steady_clock::time_point nextMeasurement_;
};

}  // namespace steptape::detail::log
