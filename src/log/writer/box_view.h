// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "log/writer/dead_process.h"
#include "log/writer/directory_place.h"
#include "log/writer/living_rings.h"
#include "log/writer/unwritten.h"
#include "process/blackbox/box_folder.h"
#include "process/blackbox/box_header.h"

namespace steptape::detail::log {

/// What a black box holds that no event file does, for UnwrittenValues.
///
/// Values go from a ring to the log and from there to a file, or directly to a file after the log
/// has announced it, and no place gives them up before the next one has them. So the log is read
/// first: it says from where on the rings count, and how much the file had at least. Then the
/// rings, then the names, then the files.
///
/// @threads Not thread-safe: one thread at a time.
class BoxView {
 public:
  explicit BoxView(process::BoxName name) : name_(std::move(name)) {}

  const process::BoxName& name() const { return name_; }

  /// Looks at the box.
  /// @param wanted Where the directory is whose runs are meant.
  /// @param image  Room for rings.
  /// @return whether all() has changed.
  bool update(const DirectoryPlace& wanted, RingImage* image);
  const std::vector<Unwritten>& all() const { return all_; }

 private:
  /// Tells whether a file is another one or has changed.
  struct Stamp {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;  // 0: there is none
    std::uint64_t size = 0;
    std::int64_t modified = 0;  // nanoseconds since 1970

    static Stamp of(const std::string& path);
    bool operator==(const Stamp& other) const {
      return device == other.device && inode == other.inode && size == other.size &&
             modified == other.modified;
    }
  };
  /// What the last look depended on.
  struct Seen {
    Stamp names;
    Stamp log;
    LivingRings::Heads rings;
    bool isAlive = false;
    std::map<std::string, Stamp> paths;  // of event files and directories
    bool isOutside = false;              // no run of the box is wanted: only the names count
    bool mayChangeUnseen = true;         // so lately that a stamp need not show the next change
  };
  static constexpr std::uint64_t kNoEnd = ~std::uint64_t{0};

  /// One try to read the box.
  struct Reading {
    Seen seen;
    DeadProcess process;
    std::map<std::uint32_t, DirectoryIdentity> runs;  // what is at their paths
    std::map<std::uint32_t, std::uint64_t> ends;      // of whole records in files, by stream
    bool isFinal = false;                             // another try would find the same
    std::vector<Unwritten> all;
  };

  bool isAsSeen(const Seen& now, const DirectoryPlace& wanted) const;
  Seen lookAtStamps() const;
  bool hasRunIn(const DirectoryPlace& wanted) const;
  bool tryToRead(const DirectoryPlace& wanted, RingImage* image, Reading* reading);
  bool readBox(RingImage* image, Reading* reading);
  bool addEntries(const DirectoryPlace& wanted, Reading* reading) const;
  std::optional<std::string> directoryOf(const NamedStream& stream, const DirectoryPlace& wanted,
                                         Reading* reading) const;
  bool show(const std::string& directory, const DeadProcess::Stream& stream, std::uint64_t end,
            const std::string& later, Reading* reading) const;
  bool showWithoutFile(const std::string& directory, const DeadProcess::Stream& stream,
                       const std::string& later, Reading* reading) const;

  const process::BoxName name_;
  std::optional<process::BoxHeader> header_;
  std::optional<Seen> seen_;
  DirectoryPlace wanted_;  // as of the last look
  std::vector<Unwritten> all_;
};

}  // namespace steptape::detail::log
