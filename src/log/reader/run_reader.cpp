// SPDX-License-Identifier: Apache-2.0
#include "steptape/log/run_reader.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <unordered_set>
#include <utility>

#include "steptape/events/plugin_content.h"

#include "base/got_expected.h"
#include "log/reader/chunk_reader.h"
#include "log/reader/read_progress.h"
#include "log/reader/restart_rule.h"
#include "log/reader/run_file.h"
#include "log/reader/series_batch.h"
#include "log/reader/series_store.h"
#include "log/reader/value_reader.h"

namespace steptape {
namespace {

// Large enough to make the cost of a batch negligible, and small enough for its points to stay in
// the second-level cache until they are appended to the columns.
constexpr std::size_t kBatchPoints = 8192;

// For larger files, it pays to read the start of the file first, and to use several threads.
constexpr std::uint64_t kLargeFileBytes = 8 << 20;
constexpr std::uint64_t kFirstBytes = 512 << 10;
constexpr std::uint64_t kToTheEnd = ~std::uint64_t{0};

}  // namespace

Sampling Sampling::tensorBoard() {
  Sampling sampling;
  sampling.maxPoints = {{event::kScalarsPlugin, 1000},
                        {event::kHistogramsPlugin, 500},
                        {event::kPrCurvesPlugin, 100}};
  sampling.otherMaxPoints = 10;
  return sampling;
}

struct RunReader::State {
  State(RunFiles runFiles, RunReaderOptions readerOptions)
      : run(std::move(runFiles)),
        options(std::move(readerOptions)),
        store(options.sampling),
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
  void readRecords(detail::log::RunFile* file, std::uint32_t number, std::uint64_t end);
  std::size_t countScalars() const;
  void reserveForRest(const detail::log::RunFile& file, std::uint64_t begin,
                      std::size_t scalarsBefore);
  void readChunks(detail::log::RunFile* file, std::uint32_t number);
  void take(std::string_view payload, detail::log::RunFile* file, std::uint32_t number);

  RunFiles run;
  RunReaderOptions options;
  std::deque<detail::log::RunFile> files;  // the same as run.files
  std::unordered_set<std::string> known;   // the paths of run.files
  detail::log::SeriesStore store;
  detail::log::SeriesBatch batch{/*isInOrder=*/true,
                                 [this](const std::string& tag) { return store.firstPlugin(tag); }};
  std::vector<Damage> damage;
  detail::log::RestartRule rule;
  detail::log::ReadProgress progress;
  std::vector<std::uint32_t> replaced;     // files, ascending
  std::vector<std::string> replacedPaths;  // those of the last update()
  bool isHalfRead = false;                 // an update() has thrown, or is running
};

/// Appends new files of the run: their names sort after those of known files, unless several
/// programs write at the same time.
void RunReader::State::addFiles() {
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
}

void RunReader::State::beginUpdate() {
  isHalfRead = true;
  addFiles();
  damage.clear();
  replaced.clear();
  replacedPaths.clear();
  progress.restart();
  store.beginUpdate();
}

void RunReader::State::endUpdate() {
  for (const detail::log::RunFile& file : files) {
    file.appendDamage(&damage);
  }
  store.append(&batch);
  store.endUpdate(
      std::any_of(files.begin(), files.end(), std::mem_fn(&detail::log::RunFile::hasPassedDamage)));
  isHalfRead = false;
}

/// Reads up to the first replaced file, if there is one.
/// @return the number of bytes read.
std::uint64_t RunReader::State::readFiles() {
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
void RunReader::State::findReplaced() {
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
std::unique_ptr<RunReader::State> RunReader::State::startAgain(
    const std::vector<std::uint64_t>& before) {
  findReplaced();
  auto again = std::make_unique<State>(run, options);
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
std::vector<std::uint64_t> RunReader::State::offsets() const {
  std::vector<std::uint64_t> offsets;
  offsets.reserve(files.size());
  for (const detail::log::RunFile& file : files) {
    offsets.push_back(file.offset());
  }
  return offsets;
}

/// Reads what was read of a file before, which is not new.
void RunReader::State::readAgain(std::uint32_t number, std::uint64_t end) {
  detail::log::RunFile& file = files[number];
  if (file.open()) {
    readRecords(&file, number, end);
    file.closeEarly();
  }
}

/// @return the number of bytes read.
std::uint64_t RunReader::State::readFile(std::uint32_t number) {
  detail::log::RunFile& file = files[number];
  if (!file.open()) {
    return 0;
  }
  const std::uint64_t begin = file.offset();
  progress.beginFile(begin);
  if (file.bytesLeft() >= kLargeFileBytes) {
    // The start of the file shows the average record size, and which tags are scalars.
    store.append(&batch);
    const std::size_t scalarsBefore = countScalars();
    readRecords(&file, number, begin + kFirstBytes);
    store.append(&batch);
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

std::size_t RunReader::State::countScalars() const {
  std::size_t count = 0;
  for (const auto& [tag, series] : store.tags()) {
    count += series.scalars.size();
  }
  return count;
}

/// Reserves room for the scalars of the file's rest, assuming that it is like the part read from
/// `begin` on. Tags share the room in proportion to their points, including those of earlier files,
/// so that the total never exceeds what the file can hold.
void RunReader::State::reserveForRest(const detail::log::RunFile& file, std::uint64_t begin,
                                      std::size_t scalarsBefore) {
  const std::size_t scalars = countScalars();
  if (scalars <= scalarsBefore) {
    return;
  }
  const auto added = static_cast<double>(scalars - scalarsBefore);
  const auto read = static_cast<double>(file.offset() - begin);
  const double toCome = added / read * static_cast<double>(file.bytesLeft());
  store.reserve(1 + toCome / static_cast<double>(scalars));
}

/// Reads the events that start before `end`.
void RunReader::State::readRecords(detail::log::RunFile* file, std::uint32_t number,
                                   std::uint64_t end) {
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
      store.append(&batch);
    }
    progress.reach(file->offset());
  }
}

/// Reads the file's present content on several threads.
void RunReader::State::readChunks(detail::log::RunFile* file, std::uint32_t number) {
  detail::log::ChunkReader chunks(file->source(), file->offset(),
                                  file->offset() + file->bytesLeft(), number, batch,
                                  static_cast<int>(options.threads));
  // Chunks do not know the previous step. If it matters, the rest is read in order.
  while (!rule.watchesSteps()) {
    detail::log::ChunkReader::Chunk* const chunk = chunks.next();
    if (chunk == nullptr) {
      return;
    }
    if (chunk->first == file->offset() && store.agreesWith(chunk->batch)) {
      store.append(&batch);
      store.append(&chunk->batch);
      batch.follow(chunk->batch);
      file->seek(chunk->last);
    } else {
      chunk->batch.reset();
    }
    readRecords(file, number, chunk->end);
    progress.reach(file->offset());
  }
}

void RunReader::State::take(std::string_view payload, detail::log::RunFile* file,
                            std::uint32_t number) {
  const detail::log::EventMeaning meaning =
      batch.add(payload, {0, 0, file->recordOffset(), 0, number, 0});
  switch (meaning.kind) {
    case detail::log::EventMeaning::Kind::kContent:
      break;
    case detail::log::EventMeaning::Kind::kRestart:
      if (rule.takeStart()) {
        store.append(&batch);
        store.purgeFrom(meaning.restartStep);
      }
      break;
    case detail::log::EventMeaning::Kind::kFileVersion:
      rule.takeVersion(meaning.hasRestarts);
      batch.watchSteps(rule.watchesSteps());
      break;
    case detail::log::EventMeaning::Kind::kNoEvent:
      file->rejectRecord(meaning.status);
      break;
  }
}

RunReader::RunReader(RunFiles run, RunReaderOptions options)
    : state_(std::make_unique<State>(std::move(run), std::move(options))) {
  if (state_->options.threads < 1) {
    detail::base::reject(std::to_string(state_->options.threads), "at least 1",
                         "RunReaderOptions::threads");
  }
}

RunReader::RunReader(RunReader&&) noexcept = default;
RunReader& RunReader::operator=(RunReader&&) noexcept = default;
RunReader::~RunReader() = default;

std::uint64_t RunReader::update() {
  if (state_->isHalfRead) {
    state_ = std::make_unique<State>(state_->run, state_->options);
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

const std::map<std::string, TagSeries>& RunReader::tags() const {
  return state_->store.tags();
}

const std::vector<Damage>& RunReader::damage() const {
  return state_->damage;
}

const std::vector<std::string>& RunReader::replacedFiles() const {
  return state_->replacedPaths;
}

Status RunReader::value(const ValueLocation& location, event::Value* value) const {
  return detail::log::readValue(state_->run.files.at(location.file), location, value);
}

const std::vector<std::string>& RunReader::files() const {
  return state_->run.files;
}
const std::string& RunReader::name() const {
  return state_->run.name;
}
const std::string& RunReader::directory() const {
  return state_->run.directory;
}

}  // namespace steptape
