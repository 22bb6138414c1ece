// SPDX-License-Identifier: Apache-2.0
#include "log/writer/recovery.h"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <limits>
#include <map>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <variant>

#include "steptape/base/clock.h"

#include "base/got_expected.h"
#include "base/little_endian.h"
#include "events/framing/record_format.h"
#include "events/messages/event_codec.h"
#include "events/messages/scalar_event_view.h"
#include "log/writer/dead_process.h"
#include "log/writer/entry_events.h"
#include "log/writer/event_file.h"
#include "log/writer/file_head.h"
#include "log/writer/file_system.h"
#include "log/writer/run_place.h"
#include "process/blackbox/box_file.h"
#include "process/blackbox/box_folder.h"
#include "process/blackbox/process_box.h"
#include "process/blackbox/rank_state.h"

namespace steptape::detail::log {
namespace {

// For how long the state of a dead process is kept that belongs to no run.
constexpr double kStateDays = 7;
// How many such states are kept, so that jobs which die again and again do not fill the memory.
constexpr std::size_t kMostStates = 512;

/// Returns the number of values in an event.
std::uint64_t valuesOf(std::string_view payload) {
  events::ScalarEventView scalars(payload);
  events::ScalarView scalar;
  std::uint64_t values = 0;
  while (scalars.next(&scalar)) {
    ++values;
  }
  if (scalars.isWhole()) {
    return values;
  }
  event::Event event;
  if (!events::decodeEvent(payload, &event).ok()) {
    return 0;
  }
  const auto* const summary = std::get_if<event::Summary>(&event.what);
  return summary != nullptr ? summary->values.size() : 0;
}

/// Returns the number of values in records that do not end within the first `known` bytes.
std::uint64_t valuesAfter(std::string_view records, std::size_t known) {
  std::uint64_t values = 0;
  std::size_t at = 0;
  while (records.size() - at >= events::kFramingBytes) {
    const std::uint64_t length = base::loadLittleEndian64(records.data() + at);
    if (length > records.size() - at - events::kFramingBytes) {
      break;
    }
    const std::string_view payload = records.substr(at + events::kHeaderBytes, length);
    at += events::kFramingBytes + length;
    values += at > known ? valuesOf(payload) : 0;
  }
  return values;
}

/// An event file that a dead process has left.
class LeftFile {
 public:
  explicit LeftFile(std::string path)
      : path_(std::move(path)),
        descriptor_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)),
        error_(descriptor_ < 0 ? errno : 0) {
    struct stat status {};
    if (descriptor_ >= 0 && ::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode)) {
      size_ = static_cast<std::uint64_t>(status.st_size);
    }
  }
  ~LeftFile() {
    if (descriptor_ >= 0) {
      ::close(descriptor_);
    }
  }
  LeftFile(const LeftFile&) = delete;
  LeftFile& operator=(const LeftFile&) = delete;

  int error() const { return error_; }
  std::uint64_t size() const { return size_; }

  /// Returns whether the file holds the first bytes of `bytes` from `offset` to its end.
  bool endsWithin(std::uint64_t offset, std::string_view bytes) const {
    if (size_ < offset) {
      return false;
    }
    std::string there(std::min<std::uint64_t>(size_ - offset, bytes.size()), '\0');
    const ssize_t got =
        ::pread(descriptor_, there.data(), there.size(), static_cast<off_t>(offset));
    return got == static_cast<ssize_t>(there.size()) && bytes.substr(0, there.size()) == there;
  }

 private:
  const std::string path_;
  const int descriptor_;
  const int error_;
  std::uint64_t size_ = 0;
};

/// Writes all of `bytes` to an open file.
/// @return 0 or an errno.
int writeAll(int descriptor, std::string_view bytes) {
  FileSystem& files = FileSystem::current();
  while (!bytes.empty()) {
    std::size_t written = 0;
    if (const int error = files.write(descriptor, bytes, &written)) {
      return error;
    }
    if (written == 0) {
      return EIO;
    }
    bytes.remove_prefix(written);
  }
  return 0;
}

/// Copies what a process kept of its state to a run, where `steptape autopsy` finds it.
bool copyStateTo(const std::string& directory, const process::DeadBox& box) {
  const std::string path = directory + "/" + process::kStateFolder + "/" +
                           process::BoxHeader::textOf(box.header().host) + "-" +
                           std::to_string(box.header().pid) + ".state";
  return process::copyRankState(box.name(), path).ok();
}

/// Recovers one process.
class Recovery {
 public:
  Recovery(process::DeadBox* box, DeadProcess process, const RunPlace& wanted, bool discardMissing)
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

  RecoveryReport::Process run() {
    encodeEntries();
    for (auto& [id, stream] : process_.streams) {
      if (!stream.bytes.empty()) {
        bring(stream);
      }
    }
    if (!report_.isKept) {
      removeBox();
    }
    return std::move(report_);
  }

  /// Removes what is not needed any more. The state stays if it belongs to no run.
  void removeBox() {
    // The log first: the rest alone says nothing.
    if (copyState()) {
      box_.remove({"log", "next", "rings", "names", process::kStatePart});
    } else {
      box_.remove({"log", "next", "rings", "names"});
    }
  }

 private:
  /// Moves the entries of the rings to the streams, and says so in the log: if this process is
  /// killed now, the next recovery finds them there and nowhere else.
  void encodeEntries() {
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
      keep(status.message());
      process_.streams.clear();
    }
  }

  bool copyState() {
    if (!process::hasBoxFile(box_.name(), process::kStatePart)) {
      return false;
    }
    for (const auto& [id, run] : process_.runs) {
      const RunPlace place = placeOf(run.directory);
      if (place.identity.isSameAs(run.identity) && copyStateTo(place.directory, box_)) {
        return true;
      }
    }
    return false;
  }

  void bring(const DeadProcess::Stream& stream) {
    std::string directory;
    if (!findDirectory(stream.named, &directory)) {
      return;
    }
    if (stream.file.empty()) {
      writeNewFile(directory, stream);
      return;
    }
    const std::string path = directory + "/" + stream.file;
    const LeftFile file(path);
    if (file.error() == ENOENT || file.error() == ENOTDIR) {
      report_.problems.push_back(path + " was deleted; its last " +
                                 std::to_string(valuesAfter(stream.bytes, 0)) +
                                 " values are dropped");
    } else if (file.error() != 0) {
      keep(process::boxError("open", path, file.error()).message());
    } else if (!file.endsWithin(stream.offset, stream.bytes)) {
      report_.problems.push_back(path + ": " +
                                 base::gotExpected("other bytes than its writer left", "these") +
                                 "; its last values are in a file of their own");
      writeNewFile(directory, stream);
    } else if (file.size() - stream.offset < stream.bytes.size()) {
      append(path, file.size(), stream);
    }
  }

  /// Finds the directory of a stream today.
  /// @return false if there is none.
  bool findDirectory(const NamedStream& stream, std::string* directory) {
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
      keep(what);
    }
    return false;
  }

  void append(const std::string& path, std::uint64_t size, const DeadProcess::Stream& stream) {
    const std::size_t known = size - stream.offset;
    FileSystem& files = FileSystem::current();
    int descriptor = -1;
    int error = files.openToAppend(path, &descriptor);
    if (error == 0) {
      error = writeAll(descriptor, std::string_view(stream.bytes).substr(known));
      if (error != 0) {
        files.truncate(descriptor, size);  // if it fails, the next recovery goes on from there
      }
      files.close(descriptor);
    }
    finish(error, path, valuesAfter(stream.bytes, known));
  }

  /// Names a stream's new file: after those of the dead process, and before those of later ones.
  /// The name is always the same, so that a second recovery finds what the first one has written.
  ///
  /// @return 0 or an errno.
  int nameNewFile(const std::string& directory, const NamedStream& stream, std::string* path) {
    constexpr std::string_view kFilePrefix = "events.out.tfevents.";
    constexpr std::size_t kDigits = 10;
    const std::string ofProcess = "." + process::BoxHeader::textOf(box_.header().host) + "." +
                                  std::to_string(box_.header().pid) + ".";
    char digits[24];
    std::snprintf(digits, sizeof(digits), "%010" PRIu64,
                  static_cast<std::uint64_t>(std::max(box_.header().created, 0.0)));
    std::string seconds(digits);
    std::vector<std::string> names;
    const int error = FileSystem::current().list(directory, &names);
    for (const std::string& name : names) {
      if (name.size() > kFilePrefix.size() + kDigits &&
          name.compare(0, kFilePrefix.size(), kFilePrefix) == 0 &&
          name.compare(kFilePrefix.size() + kDigits, ofProcess.size(), ofProcess) == 0) {
        seconds = std::max(seconds, name.substr(kFilePrefix.size(), kDigits));
      }
    }
    std::snprintf(digits, sizeof(digits), "99999%05" PRIu32, stream.id);
    *path = directory + "/" + std::string(kFilePrefix) + seconds + ofProcess + digits +
            stream.fileSuffix;
    return error == ENOENT ? 0 : error;  // the directory of a new sub-run
  }

  void writeNewFile(const std::string& directory, const DeadProcess::Stream& stream) {
    const process::BoxHeader& header = box_.header();
    std::string path;
    if (const int error = nameNewFile(directory, stream.named, &path)) {
      keep(process::boxError("read", directory, error).message());
      return;
    }
    if (LeftFile(path).error() == 0) {
      return;  // an earlier recovery was killed after this
    }
    FileSystem& files = FileSystem::current();
    const std::string unfinished = box_.name().pathOf("recovery");
    const std::string temporary = directory + "/" + unfinished.substr(unfinished.rfind('/') + 1) +
                                  "-" + std::to_string(stream.named.id);
    int descriptor = -1;
    int error = files.createDirectories(directory);
    if (error == 0) {
      static_cast<void>(files.remove(temporary));
      error = files.createExclusive(temporary, &descriptor);
    }
    if (error == 0) {
      const std::int64_t purgeFrom =
          stream.named.purgeFrom.value_or(std::numeric_limits<std::int64_t>::max());
      error = writeAll(descriptor, fileHead(header.created, purgeFrom) + stream.bytes);
      files.close(descriptor);
      if (error == 0) {
        error = files.rename(temporary, path);
      }
      if (error != 0) {
        static_cast<void>(files.remove(temporary));
      }
    }
    finish(error, path, valuesAfter(stream.bytes, 0));
  }

  void finish(int error, const std::string& path, std::uint64_t values) {
    if (error != 0) {
      keep("cannot write to " + path + ": " + std::generic_category().message(error));
      return;
    }
    report_.values += values;
    report_.files.push_back(path);
  }

  void keep(const std::string& problem) {
    report_.isKept = true;
    report_.problems.push_back(problem);
  }

  process::DeadBox& box_;
  DeadProcess process_;
  const RunPlace& wanted_;
  const bool discardMissing_;
  RecoveryReport::Process report_;
};

bool hasRun(const DeadProcess& process, const RunPlace& place, bool below) {
  return std::any_of(process.runs.begin(), process.runs.end(), [&](const auto& known) {
    const NamedRun& run = known.second;
    return run.directory == place.directory ||
           (below && run.directory.rfind(place.directory + "/", 0) == 0) ||
           run.identity.isSameAs(place.identity);
  });
}

/// Reads the names of a box, without claiming it: most boxes belong to other runs.
///
/// @return whether it names no run: its process has not begun to log, has ended to do so, or never
///         logs. False also if the names cannot be read.
bool namesNoRun(const process::BoxName& box, DeadProcess* named) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 30;
  *named = {};
  if (!process::hasBoxFile(box, "names")) {
    return true;
  }
  std::string bytes;
  if (!process::readBoxFile(box, "names", kMostBytes, &bytes).ok()) {
    return false;
  }
  if (bytes.size() <= process::BoxHeader::kBytes) {
    return true;
  }
  *named = DeadProcess::decodeNames(std::move(bytes), box.number);
  return named->runs.empty() && named->problems.empty();
}

/// Removes what a process without a run has left if it died while its first writer started or its
/// last one ended. The state stays.
void removeUnused(const process::BoxName& name) {
  const bool hasState = process::hasBoxFile(name, process::kStatePart);
  if (hasState && !process::hasBoxFile(name, "rings") && !process::hasBoxFile(name, "names")) {
    return;
  }
  process::DeadBox box;
  DeadProcess named;
  // Again, now that the process cannot change it.
  if (box.claim(name) == process::DeadBox::State::kDead && namesNoRun(name, &named)) {
    box.remove({"log", "next", "rings", "names"});
  }
}

/// Moves the state of a dead process that had no run of its own, such as a rank other than the
/// root, to the run in `directory` if that belongs to its job.
///
/// @return whether it did.
bool moveStateOfOtherRank(const process::BoxName& name, const std::string& directory) {
  const std::vector<std::string> known = process::readStateHead(name).logDirectories;
  if (std::find(known.begin(), known.end(), directory) == known.end()) {
    return false;
  }
  process::DeadBox box;
  if (box.claim(name) != process::DeadBox::State::kDead || !copyStateTo(directory, box)) {
    return false;
  }
  box.remove({process::kStatePart});
  return true;
}

/// Removes the oldest states of dead processes, except kMostStates.
///
/// @param boxes Boxes without a run, of processes that may live.
void removeOldStates(const std::vector<process::BoxName>& boxes) {
  if (boxes.size() <= kMostStates) {
    return;
  }
  std::vector<std::pair<std::pair<std::int64_t, std::int64_t>, const process::BoxName*>> byAge;
  for (const process::BoxName& name : boxes) {
    struct stat status {};
    if (::stat(name.pathOf("id").c_str(), &status) == 0) {
      byAge.push_back({{status.st_mtim.tv_sec, status.st_mtim.tv_nsec}, &name});
    }
  }
  std::sort(byAge.begin(), byAge.end(), std::greater<>());
  std::size_t dead = 0;
  for (const auto& [created, name] : byAge) {
    process::DeadBox box;
    if (box.claim(*name) == process::DeadBox::State::kDead && ++dead > kMostStates) {
      box.remove({process::kStatePart});
    }
  }
}

}  // namespace

RecoveryReport recoverRuns(const RecoveryOptions& options) {
  RecoveryReport report;
  const bool isForAll = options.directory.empty();
  const RunPlace wanted = isForAll ? RunPlace() : placeOf(options.directory);
  const std::vector<process::BoxName> boxes = process::listBoxes(process::boxFolder());
  std::vector<process::BoxName> statesOnly;
  for (const process::BoxName& name : boxes) {
    DeadProcess named;
    const bool isWithoutRun = namesNoRun(name, &named);
    if (!isForAll && isWithoutRun) {
      removeUnused(name);
      if (!wanted.identity.exists() || !moveStateOfOtherRank(name, wanted.directory)) {
        statesOnly.push_back(name);
      }
      continue;
    }
    if (!isForAll && !hasRun(named, wanted, options.below)) {
      continue;
    }
    process::DeadBox box;
    if (box.claim(name) != process::DeadBox::State::kDead) {
      continue;
    }
    DeadProcess process = DeadProcess::read(box);
    if (!process::hasBoxFile(name, "log") || namesNoRun(name, &named)) {
      // What a process that was killed while it ended, or a killed recovery, has left to do.
      Recovery(&box, std::move(process), wanted, options.discardMissing).removeBox();
      if (Clock::system().wallSeconds() - box.header().created > kStateDays * 86400.0) {
        box.remove({process::kStatePart});
      }
      continue;
    }
    if (process.runs.empty() || (!isForAll && !hasRun(process, wanted, options.below))) {
      continue;
    }
    report.processes.push_back(
        Recovery(&box, std::move(process), wanted, options.discardMissing).run());
  }
  removeOldStates(statesOnly);
  return report;
}

}  // namespace steptape::detail::log
