// SPDX-License-Identifier: Apache-2.0
#include "log/writer/process_recovery.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "log/writer/box_records.h"
#include "log/writer/left_entries.h"
#include "process/blackbox/box_file.h"
#include "process/blackbox/dead_state.h"
#include "process/blackbox/rank_state.h"

namespace steptape::detail::log {

ProcessRecovery::ProcessRecovery(process::DeadBox* box, DeadProcess process,
                                 const DirectoryPlace& wanted, bool discardMissing)
    : box_(*box),
      process_(std::move(process)),
      wanted_(wanted),
      discardMissing_(discardMissing),
      files_(box_, &report_) {
  report_.pid = box_.header().pid;
  report_.program = process::BoxHeader::textOf(box_.header().program);
  report_.host = process::BoxHeader::textOf(box_.header().host);
  report_.unreadableValues = process_.unreadableValues;
  report_.problems = std::move(process_.problems);
  for (const auto& [id, run] : process_.runs) {
    report_.directories.push_back(run.directory);
  }
}

RecoveryReport::Process ProcessRecovery::run() {
  if (!settleWrites()) {
    return std::move(report_);
  }
  encodeEntries();
  for (const auto& [id, stream] : process_.streams) {
    if (stream.bytes.empty()) {
      continue;
    }
    if (const std::string* const directory = directoryOf(stream.named)) {
      files_.bring(*directory, stream);
    }
  }
  if (!report_.isKept) {
    removeBox();
  }
  return std::move(report_);
}

void ProcessRecovery::removeBox() {
  const bool isCopied = copyState();
  DeadProcess::removeLog(&box_);
  if (isCopied) {
    box_.remove({process::kStatePart});
  }
}

/// Adds to the entries what the writes that were under way have not brought to the files.
///
/// @return false if this cannot be known now: everything then stays as it is.
bool ProcessRecovery::settleWrites() {
  std::uint64_t nameless = 0;
  const auto settle = [this](const AnnouncedWrite& write,
                             DeadProcess::Stream* stream) -> std::optional<std::uint64_t> {
    std::uint64_t missing = write.scalars;
    const std::string* const directory = directoryOf(stream->named);
    if (report_.isKept ||
        (directory != nullptr && !files_.settle(*directory, write, stream, &missing))) {
      return std::nullopt;
    }
    return missing;
  };
  const bool areSettled = addMissingEntries(&process_, settle, &nameless);
  for (std::uint64_t i = 0; i < nameless; ++i) {
    report_.problems.push_back("a write of an unknown stream");
  }
  return areSettled;
}

/// Moves the entries of the rings to the streams, and says so in the log: if this process is
/// killed now, the next recovery finds them there and nowhere else.
void ProcessRecovery::encodeEntries() {
  if (process_.entries.empty() && process_.writes.empty()) {
    return;
  }
  const EncodedEntries encoded = log::encodeEntries(process_);
  if (encoded.nameless > 0) {
    report_.problems.push_back(std::to_string(encoded.nameless) + " scalars have no tag");
  }
  LogRecordBuilder record(process_.times);
  for (const RingCursor& cursor : process_.cursors) {
    record.addCursor(cursor);
  }
  // Also a stream that has got all of a write: the next recovery must not look for it again.
  for (const auto& [id, bytes] : encoded.streams) {
    DeadProcess::Stream& stream = process_.streams[id];
    record.beginStream(id, stream.file, stream.offset + stream.bytes.size());
    record.bytes()->append(bytes);
    record.endStream();
    stream.bytes.append(bytes);
  }
  const Status status =
      process::continueBoxFile(box_.name(), "log", process_.logBytes, record.finish());
  if (!status.ok()) {
    // Without it, a kill from now on could bring points twice.
    report_.keep(status.message());
    process_.streams.clear();
  }
}

bool ProcessRecovery::copyState() {
  if (!process::hasBoxFile(box_.name(), process::kStatePart)) {
    return false;
  }
  for (const auto& [id, run] : process_.runs) {
    const DirectoryPlace place = placeOf(run.directory);
    if (place.identity.isSameAs(run.identity) && process::copyDeadState(box_, place.directory)) {
      return true;
    }
  }
  return false;
}

/// Returns the directory of a stream today; null if there is none. Says once why.
const std::string* ProcessRecovery::directoryOf(const NamedStream& stream) {
  const auto [known, isNew] = directories_.try_emplace(stream.id);
  if (isNew && !findDirectory(stream, &known->second)) {
    known->second.clear();
  }
  return known->second.empty() ? nullptr : &known->second;
}

bool ProcessRecovery::findDirectory(const NamedStream& stream, std::string* directory) {
  const auto found = process_.runs.find(stream.run);
  if (found == process_.runs.end()) {
    report_.problems.push_back(stream.directory + ": its run is unknown");
    return false;
  }
  const NamedRun& run = found->second;
  const DirectoryIdentity there = placeOf(run.directory).identity;
  if (std::optional<std::string> today = directoryToday(run, stream, there, wanted_)) {
    *directory = *std::move(today);
    return true;
  }
  const std::string what =
      run.directory + (there.exists()
                           ? " was deleted or moved, and another directory has its name now"
                           : " does not exist any more");
  if (discardMissing_ || run.directory == wanted_.directory) {
    report_.problems.push_back(what + "; its last values are dropped");
  } else {
    report_.keep(what);
  }
  return false;
}

}  // namespace steptape::detail::log
