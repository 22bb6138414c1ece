// SPDX-License-Identifier: Apache-2.0
#include "steptape/log/log_dir.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <future>
#include <thread>
#include <utility>
#include <vector>

#include "steptape/base/status.h"

namespace steptape {
namespace {

// For a smaller run, several threads are not faster.
constexpr std::uint64_t kLargeRunBytes = 8 << 20;

constexpr std::chrono::milliseconds kProgressPeriod{100};

// Stops a helper thread after `onProgress` has thrown on the caller's thread.
struct Canceled : std::exception {};

}  // namespace

struct LogDir::State {
  /// A newly found run, with its size.
  struct NewRun {
    RunFiles files;
    std::uint64_t bytes;
  };

  /// A known run, with the bytes that the current update() has read so far.
  struct FollowedRun {
    RunReader* reader;
    std::uint64_t bytes;
  };

  std::vector<NewRun> findNewRuns();
  std::size_t addNewRuns();
  void add(RunFiles&& files, std::int64_t threads);
  void read(std::size_t number);
  void readSideBySide(std::size_t first);
  void count(std::size_t number, std::uint64_t runBytes);
  void reportProgress();

  std::string path;
  RunReaderOptions options;
  std::function<bool(const RunFiles& run)> wants;
  Status lastError;
  std::vector<Damage> unreadable;
  std::map<std::string, RunReader> runs;
  std::vector<FollowedRun> followed;     // the same, by number, in the order found
  std::atomic<std::uint64_t> bytes = 0;  // read by this update()
  std::uint64_t reportedBytes = 0;       // the part reported through onProgress
  std::thread::id caller;                // of this update()
  std::atomic<bool> isCanceled = false;  // this update(), by onProgress
};

std::vector<LogDir::State::NewRun> LogDir::State::findNewRuns() {
  std::vector<RunFiles> all;
  lastError = Status();
  unreadable.clear();
  try {
    all = listRuns(path, &unreadable);
  } catch (const Error& error) {
    lastError = Status(error.code(), error.what());
  }
  std::vector<NewRun> found;
  for (RunFiles& run : all) {
    if (runs.count(run.name) == 0 && (!wants || wants(run))) {
      const std::uint64_t size = totalBytes(run);
      found.push_back({std::move(run), size});
    }
  }
  return found;
}

/// @return the index of the first run to read in parallel.
std::size_t LogDir::State::addNewRuns() {
  std::vector<NewRun> found = findNewRuns();
  // Largest runs first, so that no thread starts a large one when the others have finished.
  std::stable_sort(found.begin(), found.end(),
                   [](const NewRun& a, const NewRun& b) { return a.bytes > b.bytes; });
  std::uint64_t total = 0;
  for (const NewRun& run : found) {
    total += run.bytes;
  }
  std::size_t first = followed.size();
  for (NewRun& run : found) {
    // Otherwise one thread would still read such a run after the others have read everything else.
    const bool outweighsOthers = run.bytes >= kLargeRunBytes &&
                                 run.bytes > total / static_cast<std::uint64_t>(options.threads);
    first += outweighsOthers ? 1 : 0;
    add(std::move(run.files), outweighsOthers ? options.threads : 1);
  }
  return first;
}

void LogDir::State::add(RunFiles&& files, std::int64_t threads) {
  RunReaderOptions ownOptions = options;
  ownOptions.threads = threads;
  if (options.onProgress) {
    ownOptions.onProgress = [this, number = followed.size()](std::uint64_t runBytes) {
      count(number, runBytes);
    };
  }
  const std::string name = files.name;
  followed.push_back({nullptr, 0});
  try {
    followed.back().reader =
        &runs.try_emplace(name, std::move(files), std::move(ownOptions)).first->second;
  } catch (...) {
    followed.pop_back();
    throw;
  }
}

/// @threads Thread-safe for distinct runs.
void LogDir::State::read(std::size_t number) {
  followed[number].bytes = 0;
  count(number, followed[number].reader->update());
}

/// Reads the runs from `first` on in parallel, each on one thread.
void LogDir::State::readSideBySide(std::size_t first) {
  std::atomic<std::size_t> next = first;
  const auto readWhatIsLeft = [&] {
    for (std::size_t i = next++; i < followed.size(); i = next++) {
      read(i);
    }
  };
  const std::size_t threads =
      std::min(static_cast<std::size_t>(options.threads), followed.size() - first);
  // If an exception is thrown, the destructors wait for the helpers.
  std::vector<std::future<void>> helpers;
  try {
    helpers.reserve(threads);  // if adding a future failed, its helper's error would be lost
    while (helpers.size() + 1 < threads) {
      helpers.push_back(std::async(std::launch::async, readWhatIsLeft));
    }
  } catch (const std::exception&) {
    // The operating system has no more threads, or no memory: the existing threads read everything.
  }
  readWhatIsLeft();
  for (std::future<void>& helper : helpers) {
    while (helper.wait_for(kProgressPeriod) != std::future_status::ready) {
      reportProgress();
    }
    helper.get();
  }
}

void LogDir::State::count(std::size_t number, std::uint64_t runBytes) {
  bytes += runBytes - std::exchange(followed[number].bytes, runBytes);
  if (std::this_thread::get_id() == caller) {
    reportProgress();
  } else if (isCanceled) {
    throw Canceled();
  }
}

void LogDir::State::reportProgress() {
  const std::uint64_t now = bytes;
  if (!options.onProgress || now == std::exchange(reportedBytes, now)) {
    return;
  }
  try {
    options.onProgress(now);
  } catch (...) {
    isCanceled = true;
    throw;
  }
}

LogDir::LogDir(std::string path, RunReaderOptions options,
               std::function<bool(const RunFiles& run)> wants)
    : state_(std::make_unique<State>()) {
  // Throws if the options are invalid.
  const RunReader probe(RunFiles{}, options);
  state_->path = std::move(path);
  state_->options = std::move(options);
  state_->wants = std::move(wants);
}

LogDir::LogDir(LogDir&&) noexcept = default;
LogDir& LogDir::operator=(LogDir&&) noexcept = default;
LogDir::~LogDir() = default;

std::uint64_t LogDir::update() {
  State& state = *state_;
  state.caller = std::this_thread::get_id();
  state.bytes = 0;
  state.reportedBytes = 0;
  state.isCanceled = false;
  // Known runs have little new data: starting threads would take longer than reading it.
  const std::size_t firstSideBySide = state.addNewRuns();
  for (std::size_t i = 0; i < firstSideBySide; ++i) {
    state.read(i);
  }
  state.readSideBySide(firstSideBySide);
  state.reportProgress();
  return state.bytes;
}

const std::map<std::string, RunReader>& LogDir::runs() const {
  return state_->runs;
}
const Status& LogDir::lastError() const {
  return state_->lastError;
}
const std::vector<Damage>& LogDir::unreadable() const {
  return state_->unreadable;
}

}  // namespace steptape
