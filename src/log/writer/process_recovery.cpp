// SPDX-License-Identifier: Apache-2.0
#include "log/writer/process_recovery.h"

#include <cstdint>
#include <utility>

#include "log/writer/box_records.h"
#include "log/writer/entry_events.h"
#include "process/blackbox/box_file.h"
#include "process/blackbox/dead_state.h"
#include "process/blackbox/rank_state.h"

namespace steptape::detail::log {

ProcessRecovery::ProcessRecovery(process::DeadBox* box, DeadProcess process, const RunPlace& wanted,
                                 bool discardMissing)
    : box_(*box), process_(std::move(process)), wanted_(wanted), discardMissing_(discardMissing) {
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
  encodeEntries();
  RecoveredFiles files(box_, &report_);
  for (const auto& [id, stream] : process_.streams) {
    std::string directory;
    if (!stream.bytes.empty() && findDirectory(stream.named, &directory)) {
      files.bring(directory, stream);
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

/// Moves the entries of the rings to the streams, and says so in the log: if this process is
/// killed now, the next recovery finds them there and nowhere else.
void ProcessRecovery::encodeEntries() {
  if (process_.entries.empty()) {
    return;
  }
  std::map<std::uint32_t, EntryEvents> encoders;
  std::uint64_t nameless = 0;
  for (const RingEntry& entry : process_.entries) {
    const auto series = process_.series.find(entry.series);
    const auto stream = series == process_.series.end()
                            ? process_.streams.end()
                            : process_.streams.find(series->second.stream);
    if (stream == process_.streams.end()) {
      ++nameless;
      continue;
    }
    encoders.try_emplace(stream->first, stream->second.named, process_.times)
        .first->second.add(entry, series->second);
  }
  if (nameless > 0) {
    report_.problems.push_back(std::to_string(nameless) + " scalars have no tag");
  }
  LogRecordBuilder record(process_.times);
  for (const RingCursor& cursor : process_.cursors) {
    record.addCursor(cursor);
  }
  for (auto& [id, encoder] : encoders) {
    DeadProcess::Stream& stream = process_.streams[id];
    const std::string bytes = encoder.take();
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
    const RunPlace place = placeOf(run.directory);
    if (place.identity.isSameAs(run.identity) && process::copyDeadState(box_, place.directory)) {
      return true;
    }
  }
  return false;
}

/// Finds the directory of a stream today.
/// @return false if there is none.
bool ProcessRecovery::findDirectory(const NamedStream& stream, std::string* directory) {
  const auto found = process_.runs.find(stream.run);
  if (found == process_.runs.end()) {
    report_.problems.push_back(stream.directory + ": its run is unknown");
    return false;
  }
  const NamedRun& run = found->second;
  const DirectoryIdentity there = placeOf(run.directory).identity;
  if (run.identity.isSameAs(there)) {
    *directory = stream.directory;
    return true;
  }
  if (run.identity.isSameAs(wanted_.identity)) {
    *directory = wanted_.directory + stream.directory.substr(run.directory.size());
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
