// SPDX-License-Identifier: Apache-2.0
#include "steptape/reader/run_reader.h"

#include <algorithm>
#include <deque>
#include <unordered_set>
#include <utility>

#include "steptape/base/error.h"
#include "steptape/event/event_codec.h"
#include "steptape/event/plugin_data.h"
#include "steptape/record/byte_source.h"

#include "reader/chunk_reader.h"
#include "reader/event_values.h"
#include "reader/run_file.h"
#include "reader/series_batch.h"
#include "reader/series_store.h"

namespace steptape {
namespace {

// So many points that a batch costs little beside them, so few that they stay in the second-level
// cache until they are put behind the others.
constexpr std::size_t kBatchPoints = 8192;

constexpr std::uint64_t kProgressBytes = 8 << 20;

// From here on it pays to look at the beginning of a file first, and to use several threads.
constexpr std::uint64_t kLargeBytes = 8 << 20;
constexpr std::uint64_t kFirstBytes = 512 << 10;
constexpr std::uint64_t kToTheEnd = ~std::uint64_t{0};

}  // namespace

Sampling Sampling::tensorBoard() {
  Sampling sampling;
  sampling.maxPoints = {{kScalarsPlugin, 1000}, {kHistogramsPlugin, 500}, {kPrCurvesPlugin, 100}};
  sampling.otherMaxPoints = 10;
  return sampling;
}

struct RunReader::State {
  State(RunFiles runFiles, RunReaderOptions readerOptions)
      : run(std::move(runFiles)), options(std::move(readerOptions)), store(options.sampling) {
    // Until a file says its version it is taken for an old one.
    batch.watchSteps(options.purge != PurgePolicy::kNone);
    known.insert(run.files.begin(), run.files.end());
    addFiles();
  }

  void addFiles();
  std::uint64_t readFile(std::uint32_t number, std::uint64_t bytesBefore);
  void readRecords(detail::RunFile* file, std::uint32_t number, std::uint64_t end);
  void readChunks(detail::RunFile* file, std::uint32_t number);
  void reportProgress(std::uint64_t offset);
  void take(std::string_view payload, detail::RunFile* file, std::uint32_t number);
  void restart(std::int64_t step);

  RunFiles run;
  RunReaderOptions options;
  std::deque<detail::RunFile> files;      // as in run.files
  std::unordered_set<std::string> known;  // the same
  detail::SeriesStore store;
  detail::SeriesBatch batch;
  std::vector<Damage> damage;
  bool knowsVersion = false;
  bool hasStarted = false;
  struct {
    std::uint64_t bytes;   // of the files before, by this update()
    std::uint64_t offset;  // in the file, when it was opened
  } progress{0, 0};
  std::uint64_t reportedBytes = 0;  // by this update()
};

/// Adds the files of the run that are new. They sort behind those that are known, or belong to a
/// program that writes at the same time; either way they come last.
void RunReader::State::addFiles() {
  if (run.isWholeDirectory) {
    for (std::string& path : listEventFiles(run.directory)) {
      if (known.insert(path).second) {
        run.files.push_back(std::move(path));
      }
    }
  }
  for (std::size_t i = files.size(); i < run.files.size(); ++i) {
    files.emplace_back(run.files[i], options.mayGrow);
  }
}

/// @param bytesBefore Of files before, for the report of progress.
/// @return the bytes read.
std::uint64_t RunReader::State::readFile(std::uint32_t number, std::uint64_t bytesBefore) {
  detail::RunFile& file = files[number];
  if (!file.open()) {
    return 0;
  }
  const std::uint64_t begin = file.offset();
  progress = {bytesBefore, begin};
  if (file.bytesLeft() >= kLargeBytes) {
    // What the file begins with shows how long the rest will be, and which tags are scalars.
    readRecords(&file, number, begin + kFirstBytes);
    store.append(&batch);
    const auto read = static_cast<double>(file.offset() - begin);
    store.reserve(1 + static_cast<double>(file.bytesLeft()) / read);
    if (options.threads > 1 && !batch.watchesSteps()) {
      readChunks(&file, number);
    }
  }
  readRecords(&file, number, kToTheEnd);
  file.close();
  return file.offset() - begin;
}

/// Reads the events that begin before `end`.
void RunReader::State::readRecords(detail::RunFile* file, std::uint32_t number, std::uint64_t end) {
  std::string_view payload;
  while (file->offset() < end && file->next(&payload)) {
    if (!knowsVersion && file->hasPassedDamage()) {
      // The version may be what was damaged, and every writer since 2015 gives the same.
      knowsVersion = true;
      batch.watchSteps(false);
    }
    if (!batch.addScalars(payload, file->recordOffset(), number)) {
      take(payload, file, number);
    }
    if (batch.points() >= kBatchPoints) {
      store.append(&batch);
    }
    reportProgress(file->offset());
  }
}

/// Reads on several threads what the file holds by now.
void RunReader::State::readChunks(detail::RunFile* file, std::uint32_t number) {
  detail::ChunkReader chunks(file->source(), file->offset(), file->offset() + file->bytesLeft(),
                             number, options.threads);
  // Chunks do not know which step came last: where that matters the rest is read in order.
  while (!batch.watchesSteps()) {
    detail::ChunkReader::Chunk* const chunk = chunks.next();
    if (chunk == nullptr) {
      return;
    }
    if (chunk->first == file->offset()) {
      store.append(&batch);
      store.append(&chunk->batch);
      batch.follow(chunk->batch);
      file->seek(chunk->last);
    }
    readRecords(file, number, chunk->end);
    reportProgress(file->offset());
  }
}

void RunReader::State::reportProgress(std::uint64_t offset) {
  const std::uint64_t bytes = progress.bytes + (offset - progress.offset);
  if (options.onProgress && bytes - reportedBytes >= kProgressBytes) {
    reportedBytes = bytes;
    options.onProgress(bytes);
  }
}

void RunReader::State::take(std::string_view payload, detail::RunFile* file, std::uint32_t number) {
  const detail::EventMeaning meaning =
      batch.add(payload, {0, 0, file->recordOffset(), 0, number, 0});
  switch (meaning.kind) {
    case detail::EventMeaning::Kind::kContent:
      break;
    case detail::EventMeaning::Kind::kRestart:
      if (!batch.watchesSteps()) {
        restart(meaning.restartStep);
      }
      break;
    case detail::EventMeaning::Kind::kFileVersion:
      knowsVersion = true;
      batch.watchSteps(options.purge != PurgePolicy::kNone && !meaning.hasRestarts);
      break;
    case detail::EventMeaning::Kind::kNoEvent:
      file->rejectRecord(meaning.status);
      break;
  }
}

void RunReader::State::restart(std::int64_t step) {
  const bool isFirst = !std::exchange(hasStarted, true);
  if (options.purge == PurgePolicy::kNone ||
      (options.purge == PurgePolicy::kTensorBoardServer && isFirst)) {
    return;
  }
  store.append(&batch);
  store.purgeFrom(step);
}

RunReader::RunReader(RunFiles run, RunReaderOptions options)
    : state_(std::make_unique<State>(std::move(run), std::move(options))) {
  if (state_->options.threads < 1) {
    throw Error(ErrorCode::kInvalidArgument, "RunReaderOptions::threads: got " +
                                                 std::to_string(state_->options.threads) +
                                                 ", want at least 1");
  }
}

RunReader::RunReader(RunReader&&) noexcept = default;
RunReader& RunReader::operator=(RunReader&&) noexcept = default;
RunReader::~RunReader() = default;

std::uint64_t RunReader::update() {
  State& state = *state_;
  state.addFiles();
  state.damage.clear();
  state.reportedBytes = 0;
  std::uint64_t bytes = 0;
  for (std::uint32_t number = 0; number < state.files.size(); ++number) {
    bytes += state.readFile(number, bytes);
    state.files[number].appendDamage(&state.damage);
  }
  state.store.append(&state.batch);
  return bytes;
}

const std::map<std::string, TagSeries>& RunReader::tags() const {
  return state_->store.tags();
}

const std::vector<Damage>& RunReader::damage() const {
  return state_->damage;
}

Status RunReader::value(const ValueLocation& location, Value* value) const {
  const std::string& path = state_->run.files.at(location.file);
  try {
    RecordReader reader(std::make_unique<FileByteSource>(path));
    reader.seek(location.offset);
    std::string_view payload;
    if (reader.next(&payload) == ReadOutcome::kRecord) {
      Event event;
      if (Status status = decodeEvent(payload, &event); !status.ok()) {
        return status;
      }
      const bool isTheEvent = payload.size() == location.bytes && event.step == location.step;
      std::vector<Value> values = detail::takeValues(std::move(event));
      if (isTheEvent && location.index < values.size()) {
        *value = std::move(values[location.index]);
        return Status();
      }
    } else if (!reader.lastError().ok()) {
      return reader.lastError();
    }
  } catch (const Error& error) {
    return Status(error.code(), error.what());
  }
  return Status(ErrorCode::kDataLoss, "the file has changed: no value " +
                                          std::to_string(location.index) + " at offset " +
                                          std::to_string(location.offset) + " of " + path);
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
