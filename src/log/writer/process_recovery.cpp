// SPDX-License-Identifier: Apache-2.0
#include "log/writer/process_recovery.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "log/writer/box_records.h"
#include "log/writer/entry_events.h"
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
  std::vector<RingEntry> entries;
  for (const auto& [id, write] : process_.writes) {
    const auto stream = process_.streams.find(id);
    if (stream == process_.streams.end()) {
      report_.problems.push_back("a write of an unknown stream");
      continue;
    }
    std::uint64_t missing = write.scalars;
    const std::string* const directory = directoryOf(stream->second.named);
    if (report_.isKept ||
        (directory != nullptr && !files_.settle(*directory, write, &stream->second, &missing))) {
      return false;
    }
    const auto first = entries.size();
    for (const RingEntry& entry : process_.announced) {
      const auto series = process_.series.find(entry.series);
      if (series != process_.series.end() && series->second.stream == id) {
        entries.push_back(entry);
      }
    }
    const std::size_t there = entries.size() - first;
    const auto begin = entries.begin() + static_cast<std::ptrdiff_t>(first);
    entries.erase(begin, begin + static_cast<std::ptrdiff_t>(
                                     there - std::min<std::uint64_t>(there, missing)));
  }
  process_.entries.insert(process_.entries.begin(), entries.begin(), entries.end());
  return true;
}

/// Moves the entries of the rings to the streams, and says so in the log: if this process is
/// killed now, the next recovery finds them there and nowhere else.
void ProcessRecovery::encodeEntries() {
  if (process_.entries.empty() && process_.writes.empty()) {
    return;
  }
  std::map<std::uint32_t, EntryEvents> encoders;
  for (const auto& [id, write] : process_.writes) {
    // Also a stream that has got all: the next recovery must not look for the write again.
    if (const auto stream = process_.streams.find(write.stream); stream != process_.streams.end()) {
      encoders.try_emplace(stream->first, stream->second.named, process_.times);
    }
  }
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
