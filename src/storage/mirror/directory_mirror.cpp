// SPDX-License-Identifier: Apache-2.0
#include "storage/mirror/directory_mirror.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <optional>
#include <set>
#include <sys/types.h>
#include <thread>
#include <utility>
#include <vector>

#include "base/got_expected.h"
#include "base/loop_thread.h"
#include "base/mutex.h"
#include "base/never_destroyed.h"
#include "base/text.h"
#include "process/blackbox/directory_lock.h"
#include "storage/mirror/directory_mark.h"
#include "storage/mirror/local_files.h"
#include "storage/mirror/object_writer.h"
#include "storage/mirror/termination.h"
#include "storage/s3/aws_settings.h"
#include "storage/s3/bucket.h"

namespace steptape::detail::storage {
namespace {

using SteadyClock = std::chrono::steady_clock;
using Time = SteadyClock::time_point;

constexpr std::chrono::milliseconds kLook{250};  // for SIGTERM and whoever interrupts a wait
constexpr std::chrono::seconds kFirstPause{1};
constexpr std::chrono::seconds kLongestPause{30};
constexpr std::chrono::seconds kSilence{60};  // how late a mirror may be before it is a problem
constexpr std::chrono::seconds kEndPatience{3};
constexpr const char* kLockSuffix = "_mirror";

base::LoopThread::Options ofThread() {
  base::LoopThread::Options options;
  options.name = "steptape mirror";
  options.niceness = 10;
  options.patience = kEndPatience;
  return options;
}

struct Registry {
  base::Mutex mutex;
  std::map<std::pair<std::string, std::string>, std::weak_ptr<DirectoryMirror>> all
      STEPTAPE_GUARDED_BY(mutex);

  static Registry& instance() {
    static const base::NeverDestroyed<Registry> kInstance;
    return *kInstance;
  }
};

}  // namespace

struct DirectoryMirror::State {
  State(Options given, BucketUrl parsed)
      : options(std::move(given)),
        bucket(std::move(parsed), AwsSettings::fromEnvironment(), bucketOptions()) {
    add(options);
  }

  void add(const Options& another);
  Time turn();
  void pass();
  void terminate();
  void leave();
  bool mustSend(Time now, bool isLast);
  bool lookAtTarget(const std::vector<LocalFile>& files);
  void bringAll(const std::vector<LocalFile>& files);
  void countLate(const std::vector<LocalFile>& files);
  void report(const Status& problem);
  void reportLateness(Time now);
  Status late(const std::string& reason, ErrorCode code = ErrorCode::kDeadlineExceeded) const;
  /// Whether nothing more may be sent.
  bool isStopped() const {
    return isEnding.load() || Termination::instance().isOver(options.terminationTimeout);
  }
  Bucket::Options bucketOptions() const {
    Bucket::Options made;
    made.stop = [this] { return isStopped(); };
    return made;
  }

  const Options options;  // of the first; the functions of all are below
  std::atomic<bool> isEnding{false};

  // Of the thread.
  Bucket bucket;
  std::optional<ObjectWriter> writer;
  std::shared_ptr<process::DirectoryLock> lock;
  Time nextPass{};
  Time nextLock{};
  std::chrono::milliseconds pause = kFirstPause;
  std::optional<Time> failingSince;
  bool hasLooked = false;  // at what the bucket holds from others
  Status failure;          // of the last pass; ok if all is there
  bool isRefused = false;
  std::uint64_t drainsTried = 0;
  std::set<std::string> failed;  // files
  std::set<std::string> reported;

  // Of all threads.
  std::atomic<bool> hasLeft{false};  // SIGTERM does not wait for it
  mutable base::Mutex mutex;
  base::CondVar changed;
  Stats stats STEPTAPE_GUARDED_BY(mutex);
  std::uint64_t drainsAsked STEPTAPE_GUARDED_BY(mutex) = 0;
  std::uint64_t drainsDone STEPTAPE_GUARDED_BY(mutex) = 0;
  Status drained STEPTAPE_GUARDED_BY(mutex);            // what the last pass lacked, and why
  bool isAbandoned STEPTAPE_GUARDED_BY(mutex) = false;  // no callback may be called
  std::vector<std::function<void()>> beforeTermination STEPTAPE_GUARDED_BY(mutex);
  std::vector<std::function<bool(const Status&)>> onProblem STEPTAPE_GUARDED_BY(mutex);
};

void DirectoryMirror::State::add(const Options& another) {
  const base::MutexLock hold(mutex);
  if (another.beforeTermination) {
    beforeTermination.push_back(another.beforeTermination);
  }
  if (another.onProblem) {
    onProblem.push_back(another.onProblem);
  }
}

Time DirectoryMirror::State::turn() {
  const Time now = SteadyClock::now();
  if (Termination::instance().isAsked() && !hasLeft.load()) {
    terminate();
    return base::LoopThread::kWhenWoken;
  }
  bool isDraining = false;
  bool isAskedAnew = false;
  {
    const base::MutexLock hold(mutex);
    isDraining = drainsAsked > drainsDone;
    isAskedAnew = drainsAsked > drainsTried;
  }
  if (now < nextPass && !isAskedAnew) {
    return std::min(nextPass, now + kLook);
  }
  try {
    pass();
  } catch (const std::exception& error) {  // no memory
    failure = {ErrorCode::kResourceExhausted, error.what()};
  }
  const Time end = SteadyClock::now();
  if (failure.ok() || isRefused) {
    pause = kFirstPause;
    nextPass = end + options.period;
  } else {
    nextPass = end + (isDraining ? kFirstPause : pause);
    pause = std::min<std::chrono::milliseconds>(2 * pause, kLongestPause);
  }
  return std::min(nextPass, end + kLook);
}

void DirectoryMirror::State::pass() {
  std::uint64_t asked = 0;
  {
    const base::MutexLock hold(mutex);
    asked = drainsAsked;
  }
  const bool isLast = asked > drainsTried || Termination::instance().isAsked();
  drainsTried = asked;
  failure = {};
  isRefused = false;
  if (mustSend(SteadyClock::now(), isLast)) {
    const std::vector<LocalFile> files =
        localFilesIn(options.directory, [](const std::string& directory) {
          // A process that was killed leaves its file behind.
          const auto own = process::DirectoryLock::look(directory, kLockSuffix);
          return !own || !own->isFresh(process::DirectoryLock::Times());
        });
    countLate(files);  // should the network hang
    if (hasLooked || lookAtTarget(files)) {
      bringAll(files);
    }
    countLate(files);
    reportLateness(SteadyClock::now());
  }
  Status result = failure.ok() ? Status()
                               : late(failure.message(), isRefused ? ErrorCode::kIoError
                                                                   : ErrorCode::kDeadlineExceeded);
  const base::MutexLock hold(mutex);
  drained = std::move(result);
  if (failure.ok() || isRefused) {
    drainsDone = std::max(drainsDone, asked);
    changed.notifyAll();
  }
}

/// @param isLast Whether somebody waits for the files. They are sent even if another process has
///               the lock: that one may be about to end, and to have looked for the last time.
/// @return whether this process is to send.
bool DirectoryMirror::State::mustSend(Time now, bool isLast) {
  if (lock == nullptr && (isLast || now >= nextLock)) {
    process::DirectoryLock::Result taken =
        process::DirectoryLock::acquire(options.directory, kLockSuffix);
    lock = std::move(taken.lock);
    nextLock = now + kLongestPause;
    if (lock == nullptr && taken.holder.empty()) {
      report({taken.problem.code(), "the mirror cannot tell other processes that it sends " +
                                        options.directory + ": " + taken.problem.message()});
      isRefused = true;
      failure = taken.problem;
      return false;
    }
    if (lock == nullptr) {
      const std::string url = readMark(options.directory).url;
      if (!url.empty() && url != options.url) {
        failure = {ErrorCode::kFailedPrecondition,
                   "the mirror " + options.url + " sends nothing: " +
                       base::gotExpected(
                           taken.holder + ", which sends " + options.directory + " to " + url,
                           "one mirror of a directory")};
        isRefused = true;
        report(failure);
        return false;
      }
    }
  }
  const bool mustSend = lock != nullptr || isLast;
  if (mustSend && !writer) {
    const std::string& url = lock != nullptr ? options.url : std::string();
    writer.emplace(options.directory, takeMark(options.directory, url).mark, &bucket);
  }
  return mustSend;
}

/// Finds event files of another run, which readers would show as one with this.
/// @return whether the bucket could be listed.
bool DirectoryMirror::State::lookAtTarget(const std::vector<LocalFile>& files) {
  std::set<std::string> own;
  for (const LocalFile& file : files) {
    own.insert(file.path);
  }
  std::size_t others = 0;
  const StorageResult listed = bucket.list([&](const ObjectInfo& object) {
    const bool isOfRun = options.isEventFile && options.isEventFile(object.path) &&
                         object.path.find('/') == std::string::npos;
    others += isOfRun && own.count(object.path) == 0 ? 1 : 0;
  });
  if (!listed.isDone()) {
    failure = listed.status;
    isRefused = listed.outcome == StorageResult::Outcome::kRefused;
    if (isRefused) {
      report(failure);
    }
    return false;
  }
  hasLooked = true;
  if (others > 0) {
    report({ErrorCode::kFailedPrecondition,
            "the mirror " + options.url + ": " +
                base::gotExpected(
                    base::counted(others, "event file") + " that " + options.directory + " lacks",
                    "none: readers show both as one run; give the mirror another place, or "
                    "purgeStep to a run that continues")});
  }
  return true;
}

void DirectoryMirror::State::bringAll(const std::vector<LocalFile>& files) {
  constexpr int kMostRefused = 3;  // then it is not for this file
  int refused = 0;
  for (const LocalFile* const file : withLast(files, failed)) {
    if (isStopped() || refused == kMostRefused) {
      return;
    }
    const ObjectWriter::Result result = writer->bring(*file);
    if (result.status.ok()) {
      failed.erase(file->path);
    } else {
      failed.insert(file->path);
    }
    {
      const base::MutexLock hold(mutex);
      stats.bytesSent += result.bytesSent;
    }
    using Outcome = ObjectWriter::Result::Outcome;
    switch (result.outcome) {
      case Outcome::kUpToDate:
      case Outcome::kGone:
        break;
      case Outcome::kSent:
        refused = 0;
        break;
      case Outcome::kTaken:
      case Outcome::kUnreadable:
        failure = result.status;
        isRefused = true;
        report(result.status);
        break;
      case Outcome::kRefused:
        failure = result.status;
        isRefused = true;
        ++refused;
        report(result.status);
        break;
      case Outcome::kFailed:
        failure = result.status;
        isRefused = false;
        return;
    }
  }
}

void DirectoryMirror::State::countLate(const std::vector<LocalFile>& files) {
  Stats now;
  for (const LocalFile& file : files) {
    const std::optional<std::uint64_t> there = writer->bytesThere(file.path);
    const bool isThere = there == file.bytes;
    now.objects += isThere ? 1 : 0;
    now.lateFiles += isThere ? 0 : 1;
    now.lateBytes += isThere ? 0 : file.bytes - std::min(there.value_or(0), file.bytes);
  }
  const base::MutexLock hold(mutex);
  now.bytesSent = stats.bytesSent;
  stats = now;
}

void DirectoryMirror::State::reportLateness(Time now) {
  if (failure.ok() || isRefused) {
    failingSince.reset();
    return;
  }
  if (!failingSince) {
    failingSince = now;
  } else if (now - *failingSince >= kSilence) {
    report(late(failure.message() + "; it is tried again and again"));
    failingSince = now + std::chrono::hours(1);
  }
}

Status DirectoryMirror::State::late(const std::string& reason, ErrorCode code) const {
  const base::MutexLock hold(mutex);
  return {code, "the mirror " + options.url + " lacks " + base::counted(stats.lateFiles, "file") +
                    " with " + base::counted(stats.lateBytes, "byte") + " of " + options.directory +
                    ": " + reason};
}

void DirectoryMirror::State::report(const Status& problem) {
  std::vector<std::function<bool(const Status&)>> listeners;
  {
    const base::MutexLock hold(mutex);
    if (isAbandoned || !reported.insert(problem.message()).second) {
      return;
    }
    listeners = onProblem;
  }
  for (const auto& listener : listeners) {
    if (listener(problem)) {  // which may ask for stats()
      return;
    }
  }
}

void DirectoryMirror::State::terminate() {
  std::vector<std::function<void()>> writers;
  {
    const base::MutexLock hold(mutex);
    if (isAbandoned) {
      return;
    }
    writers = beforeTermination;
  }
  for (const auto& write : writers) {
    write();
  }
  do {
    try {
      pass();
    } catch (const std::exception& error) {
      failure = {ErrorCode::kResourceExhausted, error.what()};
    }
    const Time next = SteadyClock::now() + kFirstPause;
    while (!failure.ok() && !isRefused && !isStopped() && SteadyClock::now() < next) {
      std::this_thread::sleep_for(kLook);
    }
  } while (!failure.ok() && !isRefused && !isStopped());
  if (!failure.ok()) {
    report(late(failure.message()));
  }
  lock.reset();  // it removes its file
  leave();
}

void DirectoryMirror::State::leave() {
  if (!hasLeft.exchange(true)) {
    Termination::instance().leave();
  }
}

void DirectoryMirror::checkLibrary() {
  HttpClient::load().throwIfError();
}

std::shared_ptr<DirectoryMirror> DirectoryMirror::of(Options options) {
  BucketUrl url = parseBucketUrl(options.url, "mirror");
  Registry& registry = Registry::instance();
  const base::MutexLock hold(registry.mutex);
  std::weak_ptr<DirectoryMirror>& known = registry.all[{options.directory, options.url}];
  std::shared_ptr<DirectoryMirror> mirror = known.lock();
  if (mirror == nullptr || mirror->thread_.isOfParent()) {
    mirror = std::make_shared<DirectoryMirror>(std::move(options), std::move(url));
    known = mirror;
  } else {
    mirror->state_->add(options);
  }
  return mirror;
}

DirectoryMirror::DirectoryMirror(Options options, BucketUrl url)
    : state_(std::make_shared<State>(std::move(options), std::move(url))),
      thread_(ofThread(), [state = state_] { return state->turn(); }) {
  Termination::instance().enter();
}

DirectoryMirror::~DirectoryMirror() {
  if (thread_.isOfParent()) {
    return;
  }
  {
    const base::MutexLock hold(state_->mutex);
    state_->isAbandoned = true;
  }
  state_->isEnding.store(true);
  thread_.end(kEndPatience);
  state_->leave();
}

Status DirectoryMirror::drain(std::chrono::milliseconds patience, bool (*mayWait)()) {
  State& state = *state_;
  if (thread_.isOfParent()) {
    return {};
  }
  const Time deadline = SteadyClock::now() + patience;
  std::uint64_t wanted = 0;
  {
    const base::MutexLock hold(state.mutex);
    wanted = ++state.drainsAsked;
  }
  thread_.wake();
  bool isInTime = true;
  do {
    const base::MutexLock hold(state.mutex);
    const Time until =
        mayWait == nullptr ? deadline : std::min(deadline, SteadyClock::now() + kLook);
    while (state.drainsDone < wanted && SteadyClock::now() < until) {
      state.changed.waitUntil(state.mutex, until);
    }
    if (state.drainsDone >= wanted) {
      return state.drained;
    }
    isInTime = until < deadline;
  } while (isInTime && (mayWait == nullptr || mayWait()));
  const std::string limit = std::to_string(patience.count()) + " ms";
  {
    const base::MutexLock hold(state.mutex);
    state.drainsDone = std::max(state.drainsDone, wanted);
    if (!state.drained.ok()) {
      return {state.drained.code(), state.drained.message() + "; tried for " + limit};
    }
  }
  return state.late("they could not be sent within " + limit);
}

DirectoryMirror::Stats DirectoryMirror::stats() const {
  if (thread_.isOfParent()) {
    return {};  // the lock may have been held when the child was made
  }
  const base::MutexLock hold(state_->mutex);
  return state_->stats;
}

}  // namespace steptape::detail::storage
