// SPDX-License-Identifier: Apache-2.0
#include "server/store/log_store.h"

#include <algorithm>
#include <exception>
#include <future>
#include <new>
#include <sys/stat.h>
#include <system_error>
#include <utility>

#include "steptape/base/status.h"
#include "steptape/log/run_reader.h"

#include "log/reader/run_finder.h"
#include "log/reader/run_follower.h"

namespace steptape::detail::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// Between two rounds, so that a job that writes all the time does not keep a core busy. A new
/// point waits so long at most, and half of it on average.
constexpr milliseconds kBetweenRounds{50};
/// A missing log directory is looked for so often.
constexpr milliseconds kBetweenLooks{1000};
/// How many times longer than a listing the time until the next one is.
constexpr int kListingShare = 10;

std::string servedName(const NamedDirectory& directory, const std::string& run) {
  if (directory.name.empty()) {
    return run;
  }
  return run == "." ? directory.name : directory.name + "/" + run;
}

/// Returns when the newest file of a run was written, in nanoseconds.
std::int64_t lastWritten(const RunFiles& run) {
  struct stat status {};
  if (run.files.empty() || ::stat(run.files.back().c_str(), &status) != 0) {
    return 0;
  }
  constexpr std::int64_t kNanoseconds = 1'000'000'000;
  return status.st_mtim.tv_sec * kNanoseconds + status.st_mtim.tv_nsec;
}

}  // namespace

/// A run that is followed.
struct LogStore::Entry {
  Entry(std::string servedName, RunFiles files, const RunReaderOptions& options)
      : name(std::move(servedName)),
        directory(files.directory),
        written(lastWritten(files)),
        follower(std::move(files), options, [] { return std::make_shared<ServedRun>(); }) {}

  std::string name;
  std::string directory;
  std::int64_t written;
  log::RunFollower follower;
  bool isDirty = true;
};

LogStore::LogStore(LogStoreOptions options)
    : options_(std::move(options)), runs_(std::make_shared<Runs>()) {
  for (const NamedDirectory& directory : options_.directories) {
    location_ += (location_.empty() ? "" : ",") +
                 (directory.name.empty() ? "" : directory.name + ":") + directory.path;
  }
  thread_ = std::thread([this] { follow(); });
}

LogStore::~LogStore() {
  ends_ = true;
  watch_.wake();
  thread_.join();
}

std::shared_ptr<const LogStore::Runs> LogStore::runs() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return runs_;
}

void LogStore::follow() {
  while (!ends_) {
    try {
      readWhatChanged();
      waitForChanges();
    } catch (const std::bad_alloc&) {
      report("out of memory: runs are incomplete; they are read again");
      needsListing_ = true;
      watch_.wait(kBetweenLooks);
    } catch (const std::exception& error) {
      report(error.what());
      watch_.wait(kBetweenLooks);
    }
  }
}

void LogStore::readWhatChanged() {
  const steady_clock::time_point began = steady_clock::now();
  if (needsListing_ && began >= nextListing_) {
    list();
    nextListing_ = steady_clock::now() + kListingShare * (steady_clock::now() - began);
  }
  readAll();
  lastRound_ = steady_clock::now();
}

void LogStore::waitForChanges() {
  const auto isDirty = [](const auto& each) { return each.second->isDirty; };
  const bool isOver = options_.once && !lacksDirectory_;
  milliseconds patience(-1);
  if (needsListing_ || std::any_of(entries_.begin(), entries_.end(), isDirty)) {
    patience = kBetweenRounds;
  } else if (lacksDirectory_) {
    patience = kBetweenLooks;
  } else if (polls_ && !isOver) {
    patience = options_.reload;
  }
  if (isOver) {
    watch_.forget();
  }
  DirectoryWatch::Changes changes = watch_.wait(patience);
  if (changes.isEmpty() && !ends_ && patience >= kBetweenLooks) {
    changes.everything = true;  // nobody tells
  }
  take(changes);
  const milliseconds since =
      std::chrono::duration_cast<milliseconds>(steady_clock::now() - lastRound_);
  if (!ends_ && since < kBetweenRounds) {
    take(watch_.wait(kBetweenRounds - since));
  }
}

void LogStore::take(const DirectoryWatch::Changes& changes) {
  needsListing_ = needsListing_ || changes.structure || changes.everything;
  if (changes.directories.empty() && !changes.everything) {
    return;
  }
  for (auto& [name, entry] : entries_) {
    entry->isDirty =
        entry->isDirty || changes.everything || changes.directories.count(entry->directory) != 0;
  }
}

/// Finds new runs, and forgets those that have gone.
void LogStore::list() {
  needsListing_ = false;
  lacksDirectory_ = false;
  std::map<std::string, std::unique_ptr<Entry>> kept;
  std::vector<std::string> directories;
  for (const NamedDirectory& directory : options_.directories) {
    listOne(directory, &kept, &directories);
  }
  entries_ = std::move(kept);
  publishAll();
  if (!options_.once) {
    watchDirectories(directories);
  }
}

void LogStore::listOne(const NamedDirectory& directory,
                       std::map<std::string, std::unique_ptr<Entry>>* kept,
                       std::vector<std::string>* directories) {
  log::FoundRuns found;
  try {
    found = log::findRuns(directory.path, log::LinkRule::kEachPath);
  } catch (const Error& error) {
    lacksDirectory_ = true;
    reportOnce(directory.path, error.what());
    return;
  }
  problems_.erase(directory.path);
  for (const Damage& damage : found.unreadable) {
    reportOnce(damage.path, damage.status.message());
  }
  directories->insert(directories->end(), found.directories.begin(), found.directories.end());
  for (RunFiles& run : found.runs) {
    std::string name = servedName(directory, run.name);
    const auto known = entries_.find(name);
    if (known != entries_.end() && known->second != nullptr &&
        known->second->directory == run.directory) {
      kept->emplace(std::move(name), std::move(known->second));
      continue;
    }
    if (kept->count(name) != 0) {
      reportOnce(run.directory,
                 "two runs are named " + name + ": " + run.directory + " is left out");
      continue;
    }
    RunReaderOptions options;
    options.purge = PurgePolicy::kNone;  // TagMap has the rule of the data server
    options.threads = options_.threads;
    auto entry = std::make_unique<Entry>(name, std::move(run), options);
    kept->emplace(std::move(name), std::move(entry));
  }
}

void LogStore::watchDirectories(const std::vector<std::string>& directories) {
  if (polls_) {
    return;
  }
  std::string problem;
  for (const NamedDirectory& directory : options_.directories) {
    problem = problem.empty() ? DirectoryWatch::problemOf(directory.path) : problem;
  }
  std::vector<std::string> added;
  if (problem.empty()) {
    problem = watch_.watch(directories, &added);
  }
  if (!problem.empty()) {
    polls_ = true;
    watch_.forget();
    report(problem + "; looking for changes every " +
           std::to_string(options_.reload.count() / 1000) + " s");
    return;
  }
  // What has happened between the listing and the watch was not told.
  needsListing_ = needsListing_ || !added.empty();
  take({{added.begin(), added.end()}, false, false});
}

/// Reads all runs that have changed, the newest first.
void LogStore::readAll() {
  std::vector<Entry*> dirty;
  for (auto& [name, entry] : entries_) {
    if (entry->isDirty) {
      dirty.push_back(entry.get());
    }
  }
  std::sort(dirty.begin(), dirty.end(),
            [](const Entry* a, const Entry* b) { return a->written > b->written; });
  std::atomic<std::size_t> next{0};
  const auto readWhatIsLeft = [&] {
    for (std::size_t i = next++; i < dirty.size() && !ends_; i = next++) {
      read(dirty[i]);
    }
  };
  constexpr std::size_t kRunsPerThread = 8;  // starting a thread takes as long as reading some
  std::vector<std::future<void>> helpers;
  const std::size_t threads =
      std::min(static_cast<std::size_t>(options_.threads), dirty.size() / kRunsPerThread + 1);
  try {
    helpers.reserve(threads);
    while (helpers.size() + 1 < threads) {
      helpers.push_back(std::async(std::launch::async, readWhatIsLeft));
    }
  } catch (const std::exception&) {
    // The operating system has no more threads, or no memory: this one reads everything.
  }
  readWhatIsLeft();
  for (std::future<void>& helper : helpers) {
    helper.get();
  }
}

void LogStore::read(Entry* entry) {
  const std::shared_ptr<log::SeriesSink> before = entry->follower.sink();
  entry->isDirty = false;
  try {
    entry->follower.update();
  } catch (...) {
    entry->isDirty = true;
    throw;
  }
  if (entry->follower.sink() != before) {
    publish(*entry);
  }
}

/// Shows a run whose files were replaced.
void LogStore::publish(const Entry& entry) {
  const std::lock_guard<std::mutex> lock(mutex_);
  auto runs = std::make_shared<Runs>(*runs_);
  (*runs)[entry.name] = std::static_pointer_cast<const ServedRun>(entry.follower.sink());
  runs_ = std::move(runs);
}

void LogStore::publishAll() {
  auto runs = std::make_shared<Runs>();
  for (const auto& [name, entry] : entries_) {
    runs->emplace(name, std::static_pointer_cast<const ServedRun>(entry->follower.sink()));
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  runs_ = std::move(runs);
}

void LogStore::report(const std::string& line) const {
  if (options_.report) {
    options_.report(line);
  }
}

/// Reports a problem of a path, unless it was the last one of that path.
void LogStore::reportOnce(const std::string& path, const std::string& problem) {
  std::string& last = problems_[path];
  if (last != problem) {
    last = problem;
    report(problem);
  }
}

}  // namespace steptape::detail::server
