// SPDX-License-Identifier: Apache-2.0
#include "server/store/log_store.h"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <future>
#include <new>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include "steptape/base/status.h"
#include "steptape/log/run_reader.h"

#include "base/utf8.h"
#include "log/reader/run_finder.h"
#include "server/store/run_tail.h"

namespace steptape::detail::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// Between two rounds, so that a job that writes all the time does not keep a core busy. A new
/// point waits so long at most, and half of it on average.
constexpr milliseconds kBetweenRounds{50};
/// The longest that a page waits for what is not written yet.
constexpr milliseconds kPatience{200};
/// Whoever reads more runs than these keeps pages from waiting for what is not written yet.
constexpr std::size_t kFewRuns = 100;
/// A missing log directory is looked for so often.
constexpr milliseconds kBetweenLooks{1000};
/// How many times longer than a listing the time until the next one is.
constexpr int kListingShare = 10;

std::string servedName(const NamedDirectory& directory, const std::string& run) {
  std::string name = run;
  if (!directory.name.empty()) {
    name = run == "." ? directory.name : directory.name + "/" + run;
  }
  return base::replaceInvalidUtf8(name);  // requests and answers hold no other names
}

std::string secondsOf(milliseconds period) {
  constexpr double kMillis = 1e3;
  std::ostringstream text;
  text << static_cast<double>(period.count()) / kMillis;
  return text.str();
}

std::string reasonOf(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::bad_alloc&) {
    return "out of memory";
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace

LogStore::LogStore(LogStoreOptions options)
    : options_(std::move(options)), runs_(std::make_shared<Runs>()) {
  for (const NamedDirectory& directory : options_.directories) {
    location_ += (location_.empty() ? "" : ",") +
                 (directory.name.empty() ? "" : directory.name + ":") + directory.path;
  }
  for (const NamedDirectory& directory : options_.directories) {
    unwritten_.push_back(std::make_unique<log::UnwrittenValues>(directory.path));
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

void LogStore::freshen() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (options_.once || isReading_ || steady_clock::now() - lastTails_ < kBetweenRounds) {
    return;
  }
  wantsTails_ = true;
  const std::uint64_t wanted = tailRounds_ + 1;
  watch_.wake();
  freshened_.wait_for(lock, kPatience, [&] { return tailRounds_ >= wanted || ends_; });
}

void LogStore::follow() {
  while (!ends_) {
    std::exception_ptr failure;
    try {
      readWhatChanged();
      bringTails();
      waitForChanges();
      continue;
    } catch (...) {
      failure = std::current_exception();
    }
    try {
      report(reasonOf(failure) + ": some runs are incomplete; reading them again");
      watch_.wait(kBetweenLooks);
    } catch (const std::bad_alloc&) {
      std::this_thread::sleep_for(kBetweenRounds);
    }
    // What was told meanwhile is lost, and so may be runs that were being listed.
    DirectoryWatch::Changes missed;
    missed.everything = true;
    take(missed);
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
  // Nobody tells of some changes. Pages wake this thread in between.
  std::optional<steady_clock::time_point> nextLook;
  if (polls_ && !isOver) {
    nextLook = lastListing_ + options_.reload;
  }
  if (lacksDirectory_) {
    nextLook =
        std::min(nextLook.value_or(steady_clock::time_point::max()), lastListing_ + kBetweenLooks);
  }
  if (needsListing_ || std::any_of(entries_.begin(), entries_.end(), isDirty)) {
    patience = kBetweenRounds;
  } else if (nextLook) {
    const auto left = std::chrono::ceil<milliseconds>(*nextLook - steady_clock::now());
    patience = std::max(left, milliseconds(0));
  }
  if (isOver) {
    watch_.forget();
  }
  DirectoryWatch::Changes changes = watch_.wait(patience);
  if (nextLook && steady_clock::now() >= *nextLook) {
    changes.structure = true;
    changes.everything = changes.everything || polls_;
  }
  take(changes);
  const milliseconds since =
      std::chrono::duration_cast<milliseconds>(steady_clock::now() - lastRound_);
  if (!changes.isEmpty() && since < kBetweenRounds) {
    take(watch_.wait(kBetweenRounds - since));
  }
}

void LogStore::take(const DirectoryWatch::Changes& changes) {
  needsListing_ = needsListing_ || changes.structure || changes.everything;
  if (changes.directories.empty() && !changes.everything) {
    return;
  }
  for (auto& [name, entry] : entries_) {
    if (entry == nullptr) {
      continue;  // a listing has failed
    }
    entry->isDirty =
        entry->isDirty || changes.everything || changes.directories.count(entry->directory) != 0;
  }
}

/// Finds new runs, and forgets those that have gone.
void LogStore::list() {
  needsListing_ = false;
  lacksDirectory_ = false;
  std::map<std::string, std::unique_ptr<FollowedRun>> kept;
  std::vector<std::string> directories;
  for (const NamedDirectory& directory : options_.directories) {
    listOne(directory, &kept, &directories);
  }
  for (auto& [name, entry] : entries_) {
    if (entry != nullptr && entry->isTailOnly && entry->hasTail) {
      kept.emplace(name, std::move(entry));  // its first file is still to come
    }
  }
  entries_ = std::move(kept);
  publishAll();
  if (!options_.once) {
    watchDirectories(directories);
  }
  lastListing_ = steady_clock::now();
}

void LogStore::listOne(const NamedDirectory& directory,
                       std::map<std::string, std::unique_ptr<FollowedRun>>* kept,
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
  if (found.directories.empty() && !found.runs.empty()) {
    directories->push_back(found.runs.front().directory);  // the path is that of a file
  }
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
    std::unique_ptr<FollowedRun> entry = makeEntry(name, std::move(run));
    kept->emplace(std::move(name), std::move(entry));
  }
}

std::unique_ptr<FollowedRun> LogStore::makeEntry(const std::string& name, RunFiles run) const {
  RunReaderOptions options;
  options.purge = PurgePolicy::kNone;  // TagMap has the rule of the data server
  options.threads = options_.threads;
  return std::make_unique<FollowedRun>(name, std::move(run), options);
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
    report(problem + "; looking for changes every " + secondsOf(options_.reload) + " s");
    return;
  }
  // What has happened between the listing and the watch was not told.
  needsListing_ = needsListing_ || !added.empty();
  DirectoryWatch::Changes missed;
  missed.directories = {added.begin(), added.end()};
  take(missed);
}

/// Reads all runs that have changed, the newest first.
void LogStore::readAll() {
  std::vector<FollowedRun*> dirty;
  for (auto& [name, entry] : entries_) {
    if (entry->isDirty) {
      dirty.push_back(entry.get());
    }
  }
  std::sort(dirty.begin(), dirty.end(),
            [](const FollowedRun* a, const FollowedRun* b) { return a->written > b->written; });
  std::atomic<std::size_t> next{0};
  const auto readWhatIsLeft = [&] {
    for (std::size_t i = next++; i < dirty.size() && !ends_; i = next++) {
      read(dirty[i]);
    }
  };
  isReading_ = dirty.size() > kFewRuns;
  const std::shared_ptr<void> whenDone(nullptr, [this](void*) { isReading_ = false; });
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

void LogStore::read(FollowedRun* entry) {
  const std::shared_ptr<log::SeriesSink> before = entry->follower.sink();
  entry->isDirty = false;
  try {
    entry->update();
  } catch (...) {
    entry->isDirty = true;
    throw;
  }
  if (entry->follower.sink() != before) {
    publish(*entry);
  }
}

void LogStore::bringTails() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!std::exchange(wantsTails_, false)) {
      return;
    }
  }
  // A file that has grown meanwhile holds a part of what was not written a moment ago.
  constexpr int kTries = 3;
  for (int i = 0; i < kTries && !tryToBringTails(); ++i) {
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  ++tailRounds_;
  lastTails_ = steady_clock::now();
  freshened_.notify_all();
}

/// @return false if a file has grown while its black box was read.
bool LogStore::tryToBringTails() {
  // By UnwrittenValues: first the files to their ends, then what they lack.
  for (auto& [name, entry] : entries_) {
    if (entry->hasTail || entry->isTailOnly) {
      read(entry.get());
    }
  }
  std::map<FollowedRun*, std::vector<const log::Unwritten*>> byRun;
  for (std::size_t i = 0; i < unwritten_.size(); ++i) {
    unwritten_[i]->update();
    for (const log::Unwritten& each : unwritten_[i]->all()) {
      FollowedRun* const entry = each.bytes.empty() ? nullptr : entryOf(i, each.directory);
      if (entry != nullptr) {
        byRun[entry].push_back(&each);
      }
    }
  }
  bool isWhole = true;
  for (auto& [name, entry] : entries_) {
    const auto lacking = byRun.find(entry.get());
    if (lacking == byRun.end()) {
      if (entry->hasTail) {
        read(entry.get());  // what it lacked is in the files now
        entry->hasTail = false;
        entry->served()->setTail(nullptr);
      }
      continue;
    }
    read(entry.get());
    std::vector<const log::Unwritten*> fitting;
    for (const log::Unwritten* const each : lacking->second) {
      const bool fits = entry->bytesReadOf(each->file) == each->offset;
      isWhole = isWhole && fits;
      if (fits) {
        fitting.push_back(each);
      }
    }
    entry->hasTail = true;
    entry->served()->setTail(makeTail(fitting, *entry->served()));
  }
  return isWhole;
}

/// Finds the run in a directory, or makes it.
/// @param number Of the log directory.
FollowedRun* LogStore::entryOf(std::size_t number, const std::string& runDirectory) {
  for (auto& [name, entry] : entries_) {
    if (entry->canonical == runDirectory) {
      return entry.get();
    }
  }
  const NamedDirectory& directory = options_.directories[number];
  const std::string root = canonicalOf(directory.path);
  const std::string inside =
      runDirectory == root ? "." : std::filesystem::path(runDirectory).lexically_relative(root);
  RunFiles files{inside, (std::filesystem::path(directory.path) / inside).string(), {}, true};
  if (inside == ".") {
    files.directory = directory.path;
  }
  std::string name = servedName(directory, inside);
  auto entry = makeEntry(name, std::move(files));
  entry->isTailOnly = true;
  FollowedRun* const made = entries_.emplace(std::move(name), std::move(entry)).first->second.get();
  publish(*made);
  return made;
}

/// Shows a run whose files were replaced.
void LogStore::publish(const FollowedRun& entry) {
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
