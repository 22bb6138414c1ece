// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "steptape/base/export.h"

#include "log/writer/unwritten.h"

namespace steptape::detail::log {

class BoxView;

/// Shows what processes of this user on this machine have logged to runs in a directory, and not
/// yet written: living ones, and killed ones that nobody has recovered. Only reads, and takes no
/// lock: neither a writer nor a recovery notices.
///
/// Values that a call has captured, such as images, are in private memory of their process. They
/// come with the file.
///
/// Files grow meanwhile. So that a reader shows nothing twice and nothing too late, it
///
/// 1. reads its files to their ends,
/// 2. calls update(),
/// 3. begins again if all() names a file that it did not know in step 1, or does not name any more
///    what it named before: that is in the files now,
/// 4. reads each file that all() names up to its `offset`, which is never before the end of the
///    whole records that the file had in step 1, unless its writer has truncated it,
/// 5. and shows `bytes` after that. It leaves the rest of the files to the next time.
///
/// @threads Not thread-safe: one thread at a time.
class STEPTAPE_EXPORT UnwrittenValues {
 public:
  /// @param directory Only runs in it and below it. It need not exist yet.
  explicit UnwrittenValues(std::string directory);
  ~UnwrittenValues();
  UnwrittenValues(const UnwrittenValues&) = delete;
  UnwrittenValues& operator=(const UnwrittenValues&) = delete;

  /// Looks at the black boxes: all() then is what they held at a moment during the call.
  ///
  /// If a process logs so fast that its rings overwrite themselves each time while they are read,
  /// what is only there is omitted: it comes with the file, within milliseconds.
  ///
  /// @return whether all() has changed.
  /// @throws std::bad_alloc; the next call looks again.
  /// @cost   Without black boxes, one list of their folder: 5 us. For each that has not changed, 8
  ///         to 12 system calls and one for each ring and file: 50 us. For each that has, it reads
  ///         the log, what is new in the rings, and the names: 0.4 ms with 1000 tags.
  bool update();

  /// At most one for a file. Files that lack nothing are among them, as long as their processes
  /// have them open.
  const std::vector<Unwritten>& all() const { return all_; }

 private:
  const std::string directory_;
  std::map<std::uint64_t, std::unique_ptr<BoxView>> boxes_;  // by number
  std::vector<Unwritten> all_;
  bool wasInterrupted_ = false;  // the last update(), by an exception
};

}  // namespace steptape::detail::log
