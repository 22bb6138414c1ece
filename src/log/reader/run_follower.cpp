// SPDX-License-Identifier: Apache-2.0
#include "log/reader/run_follower.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <unordered_set>
#include <utility>

#include "base/got_expected.h"
#include "log/reader/chunk_reader.h"
#include "log/reader/read_progress.h"
#include "log/reader/restart_rule.h"
#include "log/reader/run_file.h"
#include "log/reader/series_batch.h"
#include "log/reader/series_sink.h"
#include "log/reader/value_reader.h"

namespace steptape::detail::log {
namespace {

// Large enough to make the cost of a batch negligible, and small enough for its points to stay in
// the second-level cache until they are appended to the columns.
constexpr std::size_t kBatchPoints = 8192;

// For larger files, it pays to read the start of the file first, and to use several threads.
constexpr std::uint64_t kLargeFileBytes = 8 << 20;
constexpr std::uint64_t kFirstBytes = 512 << 10;
constexpr std::uint64_t kToTheEnd = ~std::uint64_t{0};

}  // namespace

struct RunFollower::State {
  State(RunFiles runFiles, RunReaderOptions readerOptions, MakeSink make)
      : run(std::move(runFiles)),
        options(std::move(readerOptions)),
        makeSink(std::move(make)),
        sink(makeSink()),
        rule(options.purge),
        progress(options.onProgress) {
    batch.watchSteps(rule.watchesSteps());
    known.insert(run.files.begin(), run.files.end());
    addFiles();
  }

  void beginUpdate();
  void endUpdate();
  void addFiles();
  std::uint64_t readFiles();
  std::vector<std::uint64_t> offsets() const;
  void findReplaced();
  std::unique_ptr<State> startAgain(const std::vector<std::uint64_t>& before);
  std::uint64_t readFile(std::uint32_t number);
  void readAgain(std::uint32_t number, std::uint64_t end);
  void readRecords(RunFile* file, std::uint32_t number, std::uint64_t end);
  void reserveForRest(const RunFile& file, std::uint64_t begin, std::size_t scalarsBefore);
  void readChunks(RunFile* file, std::uint32_t number);
  void take(std::string_view payload, RunFile* file, std::uint32_t number);

  RunFiles run;
  RunReaderOptions options;
  std::deque<RunFile> files;              // the same as run.files
  std::vector<EventTimes> times;          // of each of them
  std::unordered_set<std::string> known;  // the paths of run.files
  MakeSink makeSink;
  std::shared_ptr<SeriesSink> sink;
  SeriesBatch batch{/*isInOrder=*/true,
                    [this](const std::string& tag) { return sink->firstPlugin(tag); }};
  std::vector<Damage> damage;
  RestartRule rule;
  ReadProgress progress;
  std::vector<std::uint32_t> replaced;     // files, ascending
  std::vector<std::string> replacedPaths;  // those of the last update()
  bool isHalfRead = false;                 // an update() has thrown, or is running
};

/// Appends new files of the run: their names sort after those of known files, unless several
/// programs write at the same time.
void RunFollower::State::addFiles() {
  if (run.isWholeDirectory) {
    for (std::string& path : listEventFiles(run.directory)) {
      if (known.insert(path).second) {
        run.files.push_back(std::move(path));
      }
    }
  }
  for (std::size_t i = files.size(); i < run.files.size(); ++i) {
    files.emplace_back(run.files[i], options.expectGrowth);
  }
  times.resize(files.size());
}

void RunFollower::State::beginUpdate() {
  isHalfRead = true;
  addFiles();
  damage.clear();
  replaced.clear();
  replacedPaths.clear();
  progress.restart();
  sink->beginUpdate(run.files);
}

void RunFollower::State::endUpdate() {
  for (const RunFile& file : files) {
    file.appendDamage(&damage);
  }
  sink->append(&batch);
  batch.releasePoints();  // hundreds of runs are followed at once
  sink->endUpdate(std::any_of(files.begin(), files.end(), std::mem_fn(&RunFile::hasPassedDamage)));
  isHalfRead = false;
}

/// Reads up to the first replaced file, if there is one.
/// @return the number of bytes read.
std::uint64_t RunFollower::State::readFiles() {
  std::uint64_t bytes = 0;
  for (std::uint32_t number = 0; number < files.size(); ++number) {
    bytes += readFile(number);
    if (files[number].isReplaced()) {
      replaced.push_back(number);
      break;
    }
  }
  return bytes;
}

/// Adds the replaced files after the first one.
void RunFollower::State::findReplaced() {
  for (std::uint32_t number = replaced.front() + 1; number < files.size(); ++number) {
    if (files[number].open()) {
      files[number].close();
    } else if (files[number].isReplaced()) {
      replaced.push_back(number);
    }
  }
}

/// Returns a reader of the same run, because files of it were truncated or replaced: points of
/// other files may depend on theirs. The points of the files before them stay known; the others are
/// new.
///
/// @param before How far each file was read before this update().
std::unique_ptr<RunFollower::State> RunFollower::State::startAgain(
    const std::vector<std::uint64_t>& before) {
  findReplaced();
  auto again = std::make_unique<State>(run, options, makeSink);
  again->beginUpdate();
  for (std::uint32_t number = 0; number < replaced.front(); ++number) {
    again->readAgain(number, before[number]);
  }
  again->endUpdate();
  again->beginUpdate();
  for (const std::uint32_t number : replaced) {
    again->replacedPaths.push_back(run.files[number]);
  }
  return again;
}

/// Returns how far each file was read.
std::vector<std::uint64_t> RunFollower::State::offsets() const {
  std::vector<std::uint64_t> offsets;
  offsets.reserve(files.size());
  for (const RunFile& file : files) {
    offsets.push_back(file.offset());
  }
  return offsets;
}

/// Reads what was read of a file before, which is not new.
void RunFollower::State::readAgain(std::uint32_t number, std::uint64_t end) {
  RunFile& file = files[number];
  if (file.open()) {
    readRecords(&file, number, end);
    file.closeEarly();
  }
}

/// @return the number of bytes read.
std::uint64_t RunFollower::State::readFile(std::uint32_t number) {
  RunFile& file = files[number];
  if (!file.open()) {
    return 0;
  }
  const std::uint64_t begin = file.offset();
  progress.beginFile(begin);
  if (file.bytesLeft() >= kLargeFileBytes) {
    // The start of the file shows the average record size, and which tags are scalars.
    sink->append(&batch);
    const std::size_t scalarsBefore = sink->scalars();
    readRecords(&file, number, begin + kFirstBytes);
    sink->append(&batch);
    reserveForRest(file, begin, scalarsBefore);
    if (options.threads > 1 && !rule.watchesSteps()) {
      readChunks(&file, number);
    }
  }
  readRecords(&file, number, kToTheEnd);
  file.close();
  progress.endFile(file.offset());
  return file.offset() - begin;
}

/// Reserves room for the scalars of the file's rest, assuming that it is like the part read from
/// `begin` on. Tags share the room in proportion to their points, including those of earlier files,
/// so that the total never exceeds what the file can hold.
void RunFollower::State::reserveForRest(const RunFile& file, std::uint64_t begin,
                                        std::size_t scalarsBefore) {
  const std::size_t scalars = sink->scalars();
  if (scalars <= scalarsBefore) {
    return;
  }
  const auto added = static_cast<double>(scalars - scalarsBefore);
  const auto read = static_cast<double>(file.offset() - begin);
  const double toCome = added / read * static_cast<double>(file.bytesLeft());
  sink->reserve(1 + toCome / static_cast<double>(scalars));
}

/// Reads the events that start before `end`.
void RunFollower::State::readRecords(RunFile* file, std::uint32_t number, std::uint64_t end) {
  std::string_view payload;
  while (file->offset() < end && file->next(&payload)) {
    if (!rule.knowsVersion() && file->hasPassedDamage()) {
      rule.takeDamage();
      batch.watchSteps(rule.watchesSteps());
    }
    if (!batch.addScalars(payload, file->recordOffset(), number)) {
      take(payload, file, number);
    }
    if (batch.points() >= kBatchPoints) {
      sink->append(&batch);
    }
    progress.reach(file->offset());
  }
  times[number].add(batch.takeTimes());
}

/// Reads the file's present content on several threads.
void RunFollower::State::readChunks(RunFile* file, std::uint32_t number) {
  ChunkReader chunks(file->source(), file->offset(), file->offset() + file->bytesLeft(), number,
                     batch, static_cast<int>(options.threads));
  // Chunks do not know the previous step. If it matters, the rest is read in order.
  while (!rule.watchesSteps()) {
    ChunkReader::Chunk* const chunk = chunks.next();
    if (chunk == nullptr) {
      return;
    }
    if (chunk->first == file->offset() && sink->agreesWith(chunk->batch)) {
      sink->append(&batch);
      sink->append(&chunk->batch);
      times[number].add(chunk->batch.takeTimes());
      batch.follow(chunk->batch);
      file->seek(chunk->last);
    } else {
      chunk->batch.reset();
    }
    readRecords(file, number, chunk->end);
    progress.reach(file->offset());
  }
}

void RunFollower::State::take(std::string_view payload, RunFile* file, std::uint32_t number) {
  const EventMeaning meaning = batch.add(payload, {0, 0, file->recordOffset(), 0, number, 0});
  if (meaning.wallTime) {
    sink->noteWallTime(*meaning.wallTime);
  }
  switch (meaning.kind) {
    case EventMeaning::Kind::kContent:
      break;
    case EventMeaning::Kind::kRestart:
      if (rule.takeStart()) {
        sink->append(&batch);
        sink->purgeFrom(meaning.restartStep);
      }
      break;
    case EventMeaning::Kind::kFileVersion:
      rule.takeVersion(meaning.hasRestarts);
      batch.watchSteps(rule.watchesSteps());
      break;
    case EventMeaning::Kind::kNoEvent:
      file->rejectRecord(meaning.status);
      break;
  }
}

RunFollower::RunFollower(RunFiles run, RunReaderOptions options, MakeSink makeSink) {
  if (options.threads < 1) {
    base::reject(std::to_string(options.threads), "at least 1", "RunReaderOptions::threads");
  }
  state_ = std::make_unique<State>(std::move(run), std::move(options), std::move(makeSink));
}

RunFollower::RunFollower(RunFollower&&) noexcept = default;
RunFollower& RunFollower::operator=(RunFollower&&) noexcept = default;
RunFollower::~RunFollower() = default;

std::uint64_t RunFollower::update() {
  if (state_->isHalfRead) {
    state_ = std::make_unique<State>(state_->run, state_->options, state_->makeSink);
  }
  state_->beginUpdate();
  const std::vector<std::uint64_t> before = state_->offsets();
  std::uint64_t bytes = state_->readFiles();
  if (!state_->replaced.empty()) {
    state_ = state_->startAgain(before);
    bytes += state_->readFiles();
  }
  state_->endUpdate();
  return bytes;
}

const std::shared_ptr<SeriesSink>& RunFollower::sink() const {
  return state_->sink;
}
const RunFiles& RunFollower::run() const {
  return state_->run;
}
std::vector<std::uint64_t> RunFollower::offsets() const {
  return state_->offsets();
}
const std::vector<EventTimes>& RunFollower::times() const {
  return state_->times;
}
const std::vector<Damage>& RunFollower::damage() const {
  return state_->damage;
}
const std::vector<std::string>& RunFollower::replacedFiles() const {
  return state_->replacedPaths;
}

}  // namespace steptape::detail::log
