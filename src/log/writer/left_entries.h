// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "log/writer/box_records.h"
#include "log/writer/dead_process.h"
#include "log/writer/directory_place.h"

namespace steptape::detail::log {

// What the entries of a process's rings become, for those who bring them to its files and for those
// who only look at them.

/// Looks at an announced write of a stream; see continueAfter().
/// @return how many of its scalars the file lacks; nothing if this cannot be known now.
using LookAtWrite =
    std::function<std::optional<std::uint64_t>(const AnnouncedWrite&, DeadProcess::Stream*)>;

/// Adds to the entries, before the others, what the writes that were under way have not brought to
/// the files.
///
/// @param nameless Set to the number of writes of unknown streams.
/// @return false if `look` did not know: the entries are then as before.
bool addMissingEntries(DeadProcess* process, const LookAtWrite& look, std::uint64_t* nameless);

/// Events of entries.
struct EncodedEntries {
  /// Records by stream; also none, for a stream of an announced write.
  std::map<std::uint32_t, std::string> streams;
  std::uint64_t nameless = 0;  ///< Entries without a tag.
};

EncodedEntries encodeEntries(const DeadProcess& process);

/// Returns the directory of a stream today; nothing if its run was deleted or moved.
///
/// @param there  What is at the path of the run.
/// @param wanted May be the directory of a run that was moved there.
std::optional<std::string> directoryToday(const NamedRun& run, const NamedStream& stream,
                                          const DirectoryIdentity& there,
                                          const DirectoryPlace& wanted);

}  // namespace steptape::detail::log
