// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/base/status.h"

#include "log/writer/box_records.h"
#include "log/writer/scalar_ring.h"
#include "process/blackbox/process_box.h"

namespace steptape::detail::log {

/// What a dead process left in its black box: everything that its streams had still to write.
///
/// The files may be damaged: what can be read is kept, and `problems` says what cannot.
struct STEPTAPE_EXPORT DeadProcess {
  /// The bytes that belong into an event file from `offset` on.
  struct Stream {
    NamedStream named;
    std::string file;  ///< Its name; empty: there is none yet.
    std::uint64_t offset = 0;
    std::string bytes;
  };

  std::map<std::uint32_t, NamedRun> runs;
  std::map<std::uint32_t, Stream> streams;
  std::map<std::uint32_t, NamedSeries> series;
  std::vector<RingEntry> entries;  ///< Not yet among `bytes`; in the order of their ticks.
  /// Writes that may have been under way, by stream: files may have them, in part or not at all.
  std::map<std::uint32_t, AnnouncedWrite> writes;
  /// What is in `writes` or in `bytes`, as far as the rings still have it; before `entries`.
  std::vector<RingEntry> announced;
  std::vector<RingCursor> cursors;  ///< Behind the last entry of each ring.
  TickTimes times;
  std::uint64_t logBytes = 0;          ///< Of whole records in the file `.log`, with the header.
  std::uint64_t unreadableValues = 0;  ///< Captured values, which were in private memory.
  std::vector<std::string> problems;

  /// The files of a box, each with its header.
  struct Files {
    std::string names;
    std::string log;
    std::string rings;
  };

  static DeadProcess read(const process::DeadBox& box);
  /// Like read().
  /// @param box The number of the box, which every file names.
  static DeadProcess decode(Files files, std::uint64_t box);
  static DeadProcess decode(std::string names, std::string log, std::string_view rings,
                            std::uint64_t box);
  /// Like decode(), of the file `.names` alone.
  static DeadProcess decodeNames(std::string names, std::uint64_t box);

  /// Removes from the box what read() reads, and the box if nothing else is in it.
  static void removeLog(process::DeadBox* box);
};

}  // namespace steptape::detail::log
