// SPDX-License-Identifier: Apache-2.0
#include "log/writer/box_view.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <sys/stat.h>
#include <utility>

#include "steptape/base/clock.h"

#include "base/little_endian.h"
#include "events/framing/record_format.h"
#include "log/writer/left_entries.h"
#include "log/writer/left_file.h"
#include "process/blackbox/box_file.h"
#include "process/blackbox/process_box.h"

namespace steptape::detail::log {
namespace {

constexpr std::size_t kMostPartBytes = std::size_t{4} << 30;

bool isSamePlace(const DirectoryPlace& a, const DirectoryPlace& b) {
  return a.directory == b.directory && a.identity.device == b.identity.device &&
         a.identity.inode == b.identity.inode && a.identity.created == b.identity.created;
}

bool isIn(const std::string& directory, const DirectoryPlace& wanted) {
  const std::string below = wanted.directory == "/" ? "/" : wanted.directory + "/";
  return directory == wanted.directory || directory.compare(0, below.size(), below) == 0;
}

/// Returns the bytes of whole records within the first `known` bytes of `records`.
std::size_t wholeRecordsWithin(std::string_view records, std::size_t known) {
  std::size_t at = 0;
  while (known - at >= events::kFramingBytes) {
    const std::uint64_t length = base::loadLittleEndian64(records.data() + at);
    if (length > known - at - events::kFramingBytes) {
      break;
    }
    at += events::kFramingBytes + length;
  }
  return at;
}

/// Removes entries that were stamped after `ticks`, unless there is one ring: the tails are read
/// one after the other, so the last ones may have entries that follow others in the first ones.
/// @return whether there were any.
bool removeLater(std::uint64_t ticks, std::size_t rings, DeadProcess* process) {
  const TickTimes& times = process->times;
  const auto since = static_cast<double>(static_cast<std::int64_t>(ticks - times.ticks));
  const double wallSeconds = times.wallSeconds + since * times.nanosPerTick * 1e-9;
  // A container may have a clock of its own.
  constexpr double kSameClock = 1;
  if (rings < 2 || !(std::abs(Clock::system().wallSeconds() - wallSeconds) < kSameClock)) {
    return false;
  }
  auto& entries = process->entries;
  const auto later = std::find_if(entries.begin(), entries.end(),
                                  [ticks](const RingEntry& entry) { return entry.ticks > ticks; });
  const bool isAny = later != entries.end();
  entries.erase(later, entries.end());
  return isAny;
}

}  // namespace

BoxView::Stamp BoxView::Stamp::of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    return {};
  }
  constexpr std::int64_t kNanosPerSecond = 1'000'000'000;
  return {status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size),
          status.st_mtim.tv_sec * kNanosPerSecond + status.st_mtim.tv_nsec};
}

bool BoxView::update(const DirectoryPlace& wanted, RingImage* image) {
  constexpr int kTries = 16;
  const Seen now = lookAtStamps();
  if (isAsSeen(now, wanted)) {
    return false;
  }
  const bool mayBeOutside =
      !seen_ || seen_->isOutside || !(seen_->names == now.names) || !isSamePlace(wanted_, wanted);
  seen_.reset();
  wanted_ = wanted;
  std::vector<Unwritten> all;
  if (mayBeOutside && !hasRunIn(wanted)) {
    seen_ = now;
    seen_->isOutside = true;
  } else {
    for (int tries = 0; tries < kTries; ++tries) {
      Reading reading;
      reading.isFinal = tries + 1 == kTries;
      // What is in the log alone is consistent, too.
      if (tryToRead(wanted, tries < kTries / 2 ? image : nullptr, &reading)) {
        seen_ = std::move(reading.seen);
        all = std::move(reading.all);
        break;
      }
    }
  }
  const bool hasChanged = !(all == all_);
  all_ = std::move(all);
  return hasChanged;
}

/// Looks at the files of the box, and at those that counted when it was read.
BoxView::Seen BoxView::lookAtStamps() const {
  // A file system may give two changes that follow each other so closely the same time.
  constexpr std::int64_t kClearlyEarlier = 50'000'000;
  Seen now;
  now.names = Stamp::of(name_.pathOf("names"));
  now.log = Stamp::of(name_.pathOf("log"));
  now.mayChangeUnseen = std::max(now.names.modified, now.log.modified) + kClearlyEarlier >
                        Clock::system().wallNanos();
  if (seen_ && !seen_->isOutside) {
    LivingRings rings;
    if (rings.open(name_)) {
      rings.readHeads(&now.rings);
    }
    for (const auto& [path, stamp] : seen_->paths) {
      now.paths[path] = Stamp::of(path);
    }
    now.isAlive = header_ && process::hasLivingProcess(name_, *header_);
  }
  return now;
}

bool BoxView::isAsSeen(const Seen& now, const DirectoryPlace& wanted) const {
  if (!seen_ || seen_->mayChangeUnseen || !isSamePlace(wanted_, wanted) ||
      !(seen_->names == now.names)) {
    return false;
  }
  return seen_->isOutside || (seen_->log == now.log && seen_->rings == now.rings &&
                              seen_->isAlive == now.isAlive && seen_->paths == now.paths);
}

/// Returns whether the box names a run in the directory, or below it. False if it names none at
/// all.
bool BoxView::hasRunIn(const DirectoryPlace& wanted) const {
  std::string names;
  if (!process::readBoxFile(name_, "names", kMostPartBytes, &names).ok()) {
    return false;
  }
  const DeadProcess named = DeadProcess::decodeNames(std::move(names), name_.number);
  return std::any_of(
             named.streams.begin(), named.streams.end(),
             [&](const auto& known) { return isIn(known.second.named.directory, wanted); }) ||
         std::any_of(named.runs.begin(), named.runs.end(), [&](const auto& known) {
           return known.second.identity.isSameAs(wanted.identity);
         });
}

/// @param image Null: leaves the rings out.
/// @return false if the process has changed the box meanwhile.
bool BoxView::tryToRead(const DirectoryPlace& wanted, RingImage* image, Reading* reading) {
  if (!readBox(image, reading)) {
    return false;
  }
  DeadProcess& process = reading->process;
  if (!process.problems.empty() && !reading->isFinal) {
    return false;
  }
  if (!addEntries(wanted, reading)) {
    return false;
  }
  EncodedEntries later = encodeEntries(process);
  if (later.nameless > 0 && !reading->isFinal) {
    return false;
  }
  for (const auto& [id, stream] : process.streams) {
    const std::optional<std::string> directory = directoryOf(stream.named, wanted, reading);
    if (!directory || !isIn(*directory, wanted)) {
      continue;
    }
    if (const auto end = reading->ends.find(id);
        !show(*directory, stream, end == reading->ends.end() ? kNoEnd : end->second,
              later.streams[id], reading)) {
      return false;
    }
  }
  return true;
}

/// Reads the log, the rings and then the names.
bool BoxView::readBox(RingImage* image, Reading* reading) {
  Seen& seen = reading->seen;
  seen = lookAtStamps();
  seen.paths.clear();
  if (!header_) {
    process::BoxHeader header;
    if (!process::readBoxHeader(name_, "log", &header).ok()) {
      return true;  // no box yet, or none any more
    }
    header_ = header;
  }
  seen.isAlive = process::hasLivingProcess(name_, *header_);
  LivingRings rings;
  seen.rings.clear();
  const bool hasRings = (seen.isAlive || process::isOfThisBoot(*header_)) && rings.open(name_) &&
                        rings.readHeads(&seen.rings);
  std::string log;
  if (!process::readBoxFile(name_, "log", kMostPartBytes, &log).ok()) {
    return true;
  }
  const std::uint64_t ticks = readTicks();
  std::string_view ringBytes;
  if (hasRings && image != nullptr) {
    if (!rings.copy(seen.isAlive, &seen.rings, image)) {
      return false;
    }
    ringBytes = image->bytes();
  } else if (hasRings) {
    seen.mayChangeUnseen = true;  // they are to be looked at next time
  }
  std::string names;
  if (!process::readBoxFile(name_, "names", kMostPartBytes, &names).ok()) {
    return true;
  }
  reading->process = DeadProcess::decode(std::move(names), std::move(log), ringBytes, name_.number);
  if (removeLater(ticks, seen.rings.size(), &reading->process)) {
    seen.mayChangeUnseen = true;
  }
  // Nobody but a recovery changes the box of a dead process.
  reading->isFinal =
      reading->isFinal || (!seen.isAlive && Stamp::of(name_.pathOf("log")) == seen.log);
  return true;
}

/// Adds what announced writes have not brought to their files.
bool BoxView::addEntries(const DirectoryPlace& wanted, Reading* reading) const {
  const auto look = [&](const AnnouncedWrite& write,
                        DeadProcess::Stream* stream) -> std::optional<std::uint64_t> {
    const std::optional<std::string> directory = directoryOf(stream->named, wanted, reading);
    if (!directory) {
      return write.scalars;
    }
    const std::string path = *directory + "/" + write.file;
    reading->seen.paths.try_emplace(path, Stamp::of(path));
    const ArrivedWrite arrived = continueAfter(write, LeftFile(path), stream);
    if (arrived.end) {
      reading->ends[write.stream] = *arrived.end;
    }
    return arrived.missing;
  };
  std::uint64_t nameless = 0;
  return addMissingEntries(&reading->process, look, &nameless) &&
         (nameless == 0 || reading->isFinal);
}

/// Returns the directory of a stream today; nothing if its run was deleted or moved elsewhere.
std::optional<std::string> BoxView::directoryOf(const NamedStream& stream,
                                                const DirectoryPlace& wanted,
                                                Reading* reading) const {
  const auto run = reading->process.runs.find(stream.run);
  if (run == reading->process.runs.end()) {
    return std::nullopt;
  }
  const std::string& path = run->second.directory;
  const auto [there, isNew] = reading->runs.try_emplace(stream.run);
  if (isNew) {
    reading->seen.paths.try_emplace(path, Stamp::of(path));
    there->second = placeOf(path).identity;
  }
  return directoryToday(run->second, stream, there->second, wanted);
}

/// Adds to what is shown the bytes that the stream's file lacks, and the records after them.
///
/// @param end Where the file is taken to end.
bool BoxView::show(const std::string& directory, const DeadProcess::Stream& stream,
                   std::uint64_t end, const std::string& later, Reading* reading) const {
  if (stream.file.empty()) {
    return showWithoutFile(directory, stream, later, reading);
  }
  const std::string path = directory + "/" + stream.file;
  reading->seen.paths.try_emplace(path, Stamp::of(path));
  LeftFile file(path);
  file.endAt(end);
  if (file.isMissing()) {
    return true;  // it was deleted, and what belongs to it is lost
  }
  if (file.error() != 0) {
    return reading->isFinal;
  }
  if (file.endsWithin(stream.offset, stream.bytes)) {
    const std::size_t known =
        std::min<std::uint64_t>(file.size() - stream.offset, stream.bytes.size());
    const std::size_t whole = wholeRecordsWithin(stream.bytes, known);
    reading->all.push_back({directory, stream.file, "", stream.offset + whole,
                            stream.bytes.substr(whole) + later, reading->seen.isAlive});
    return true;
  }
  // The file has got more than the log said when it was read, or something else.
  if (!reading->isFinal || reading->seen.isAlive) {
    return reading->isFinal;
  }
  return showWithoutFile(directory, stream, later, reading);  // as the recovery does
}

/// Adds to what is shown the records of a stream whose next file does not exist yet.
bool BoxView::showWithoutFile(const std::string& directory, const DeadProcess::Stream& stream,
                              const std::string& later, Reading* reading) const {
  if (stream.bytes.empty() && later.empty()) {
    return true;
  }
  reading->seen.paths.try_emplace(directory, Stamp::of(directory));
  FilesOfProcess files;
  if (findFiles(*header_, directory, stream.named, &files) != 0) {
    return true;
  }
  const bool isAlive = reading->seen.isAlive;
  if (files.last == files.next) {
    // A recovery has just brought everything there.
    const Stamp made = Stamp::of(directory + "/" + files.next);
    reading->all.push_back({directory, files.next, "", made.size, "", isAlive});
    return true;
  }
  const auto& streams = reading->process.streams;
  const bool isOfOther = std::any_of(streams.begin(), streams.end(), [&](const auto& known) {
    return known.second.file == files.last && known.second.named.id != stream.named.id;
  });
  if (files.last.empty() || isOfOther) {
    reading->all.push_back({directory, "", files.next, 0,
                            headOfNewFile(*header_, stream.named) + stream.bytes + later, isAlive});
    return true;
  }
  // The last one is complete, or holds no values yet. The log says so before it gets any.
  const std::string path = directory + "/" + files.last;
  const Stamp last = Stamp::of(path);
  reading->seen.paths.try_emplace(path, last);
  if (!(Stamp::of(name_.pathOf("log")) == reading->seen.log)) {
    return reading->isFinal;
  }
  reading->all.push_back({directory, files.last, "", last.size, stream.bytes + later, isAlive});
  return true;
}

}  // namespace steptape::detail::log
