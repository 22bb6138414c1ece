// SPDX-License-Identifier: Apache-2.0
#include "process/blackbox/directory_lock.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <iterator>
#include <map>
#include <new>
#include <set>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/file_descriptor.h"
#include "base/fork_handlers.h"
#include "base/loop_thread.h"
#include "base/mutex.h"
#include "base/text.h"
#include "process/blackbox/box_file.h"
#include "process/blackbox/box_header.h"
#include "process/blackbox/job_identity.h"

namespace steptape::detail::process {
namespace {

constexpr const char* kName = "/.steptape_owner";
constexpr std::string_view kMagic = "steptape owner 1\n";

std::int64_t nanosOf(const timespec& time) {
  constexpr std::int64_t kNanosPerSecond = 1'000'000'000;
  return std::int64_t{time.tv_sec} * kNanosPerSecond + time.tv_nsec;
}

/// What the file says.
struct Owner {
  std::string boot;  ///< The kernel's number of the boot of the machine.
  JobIdentity job;

  static Owner ofThisProcess() {
    return {BoxHeader::textOf(headerOfThisProcess().boot), JobIdentity::ofThisProcess()};
  }
  std::string encode() const { return std::string(kMagic) + boot + "\n" + job.encode(); }
  /// Of a file that is none of ours, everything is unknown.
  static Owner decode(std::string text) {
    Owner owner;
    if (base::startsWith(text, kMagic)) {
      text.erase(0, kMagic.size());
      const std::size_t end = std::min(text.find('\n'), text.size());
      owner.boot = text.substr(0, end);
      owner.job = JobIdentity::decode(text.substr(std::min(end + 1, text.size())));
    }
    return owner;
  }
  std::string describe() const { return job.process.empty() ? "another process" : job.describe(); }
};

/// Opens the file of an owner. That of another user may be readable only.
base::FileDescriptor openOwner(const std::string& path) {
  int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0 && (errno == EACCES || errno == EPERM)) {
    descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  }
  return base::FileDescriptor(descriptor);
}

Owner readOwner(const base::FileDescriptor& file) {
  std::string text(4096, '\0');
  const ssize_t bytes = ::pread(file.number(), text.data(), text.size(), 0);
  text.resize(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  return Owner::decode(std::move(text));
}

/// Whether the file begins with `text`. Allocates nothing.
bool hasText(const base::FileDescriptor& file, const std::string& text) noexcept {
  std::array<char, 4096> bytes;
  const std::size_t compared = std::min(text.size(), bytes.size());
  return file.isOpen() &&
         ::pread(file.number(), bytes.data(), compared, 0) == static_cast<ssize_t>(compared) &&
         std::memcmp(bytes.data(), text.data(), compared) == 0;
}

bool isNameOf(const base::FileDescriptor& file, const std::string& path) {
  struct stat ofFile {};
  struct stat ofPath {};
  return ::fstat(file.number(), &ofFile) == 0 && ::lstat(path.c_str(), &ofPath) == 0 &&
         ofFile.st_dev == ofPath.st_dev && ofFile.st_ino == ofPath.st_ino;
}

/// @return the time of the last change, in nanoseconds; -1 if it is not known.
std::int64_t changeOf(const std::string& path) {
  // Network file systems ask the server when a file is opened, and not always at stat().
  const base::FileDescriptor file = openOwner(path);
  struct stat status {};
  return file.isOpen() && ::fstat(file.number(), &status) == 0 ? nanosOf(status.st_mtim) : -1;
}

/// Opens the file of an owner, or makes an empty one.
base::FileDescriptor openOrMakeOwner(const std::string& path) {
  constexpr unsigned kAnyNewFile = 0666;  // umask(2) removes some of them
  const int descriptor =
      ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kAnyNewFile);
  return descriptor < 0 && (errno == EACCES || errno == EPERM) ? openOwner(path)
                                                               : base::FileDescriptor(descriptor);
}

/// Waits until it is known whether the process of another machine still renews its file.
bool isRenewed(const std::string& path, const DirectoryLock::Times& times) {
  // More than the clocks of machines differ by.
  constexpr std::chrono::minutes kClocksApart{10};
  const std::int64_t first = changeOf(path);
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const std::chrono::nanoseconds age(nanosOf(now) - first);
  if (first < 0 || age > times.staleAfter + kClocksApart) {
    return false;
  }
  const auto end = std::chrono::steady_clock::now() + times.staleAfter;
  const auto pause =
      std::min<std::chrono::milliseconds>(times.renewal / 5, std::chrono::seconds(1));
  while (std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(pause);
    const std::int64_t change = changeOf(path);
    if (change != first) {
      return change >= 0;
    }
  }
  return false;
}

/// @return 0 or an errno.
int writeOwner(const base::FileDescriptor& file, const std::string& text) {
  // The end first, so that the text is never followed by the rest of a longer one.
  if (::ftruncate(file.number(), 0) != 0) {
    return errno;
  }
  const ssize_t written = ::pwrite(file.number(), text.data(), text.size(), 0);
  return written == static_cast<ssize_t>(text.size()) ? 0 : written < 0 ? errno : ENOSPC;
}

/// Takes the file from nobody, or from a process that has ended.
/// @return the file; closed with `holder` or `problem` set.
base::FileDescriptor take(const std::string& path, const std::string& text,
                          const DirectoryLock::Times& times, DirectoryLock::Result* result) {
  const std::string boot = Owner::decode(text).boot;
  constexpr int kTries = 100;  // others may come and go meanwhile
  for (int i = 0; i < kTries; ++i) {
    base::FileDescriptor file = openOrMakeOwner(path);
    if (!file.isOpen()) {
      result->problem = boxError("open", path, errno);
      return {};
    }
    const int locked = ::flock(file.number(), LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
    const Owner owner = readOwner(file);
    // A free lock tells only of this machine, and nothing where there are no locks.
    const bool mayLive = !owner.boot.empty() && (owner.boot != boot || locked != 0);
    if (locked == EWOULDBLOCK || (mayLive && isRenewed(path, times))) {
      result->holder = owner.describe();
      return {};
    }
    if (!isNameOf(file, path)) {
      continue;  // its owner has released it meanwhile
    }
    const int error = writeOwner(file, text);
    if (error == 0) {
      return file;
    }
    // That of another user, who is gone.
    if ((error != EBADF && error != EINVAL) || ::unlink(path.c_str()) != 0) {
      result->problem = boxError("write", path, error);
      return {};
    }
  }
  result->holder = "other processes that come and go";
  return {};
}

}  // namespace

/// The file of a directory that this process has.
struct DirectoryLock::Held {
  std::string path;
  std::string text;
  base::FileDescriptor file;
  pid_t process = ::getpid();
  bool isLost = false;

  /// Whether the file still names this process.
  bool isOurs() const noexcept { return hasText(openOwner(path), text); }
  void renew() {
    if (isLost || !file.isOpen()) {
      return;
    }
    if (!isOurs()) {
      // Removed with its directory, or taken by another machine that saw it unchanged for long.
      isLost = true;
      const base::FileDescriptor other = openOwner(path);
      if (other.isOpen()) {
        std::fprintf(stderr, "steptape: %s now belongs to %s: two jobs write in its directory\n",
                     path.c_str(), readOwner(other).describe().c_str());
      }
      return;
    }
    static_cast<void>(::futimens(file.number(), nullptr));
  }
};

/// The locks of this process, and the thread that renews them. Never destroyed: writers with static
/// storage may outlive it.
struct DirectoryLock::Registry {
  base::Mutex mutex;
  std::map<std::string, std::weak_ptr<DirectoryLock>> locks STEPTAPE_GUARDED_BY(mutex);
  std::map<const Held*, std::shared_ptr<Held>> held STEPTAPE_GUARDED_BY(mutex);
  std::set<std::string> underWay STEPTAPE_GUARDED_BY(mutex);  // keys that a thread acquires
  base::CondVar changed;
  std::unique_ptr<base::LoopThread> thread STEPTAPE_GUARDED_BY(mutex);

  static Registry& instance() {
    static constexpr base::ForkHandlers kHandlers{[] { return &instance().mutex; },
                                                  &afterForkInChild};
    static Registry* const kRegistry = [] {
      base::addForkHandlers(base::ForkOrder::kDirectoryLocks, kHandlers);
      return new Registry;
    }();
    return *kRegistry;
  }

  /// The child must not keep the locks of a parent that dies. Called with the mutex, which the
  /// analysis cannot follow.
  static void afterForkInChild() STEPTAPE_THREAD_ANNOTATION(no_thread_safety_analysis) {
    Registry& registry = instance();
    for (const auto& [key, held] : registry.held) {
      held->file = base::FileDescriptor();
    }
    registry.held.clear();
    registry.locks.clear();
    registry.underWay.clear();
    registry.thread.reset();  // waits for nothing: the thread is in the parent
  }

  /// Without the mutex, since a file system can hang.
  void renewAll() {
    std::vector<std::shared_ptr<Held>> all;
    try {
      const base::MutexLock lock(mutex);
      for (const auto& [key, each] : held) {
        all.push_back(each);
      }
    } catch (const std::bad_alloc&) {
      return;  // the next time is soon
    }
    for (const auto& each : all) {
      try {
        each->renew();
      } catch (const std::bad_alloc&) {
        // Only the message is lost.
      }
    }
  }

  void startThread(std::chrono::milliseconds renewal) STEPTAPE_REQUIRES(mutex) {
    if (thread != nullptr) {
      return;
    }
    try {
      thread = std::make_unique<base::LoopThread>("steptape-owner", [this, renewal] {
        renewAll();
        return std::chrono::steady_clock::now() + renewal;
      });
    } catch (const std::exception&) {
      // No memory or no thread: processes of this machine see the lock nevertheless.
    }
  }

  /// The turn of a thread to take a lock that this process does not have: others that want the same
  /// one wait until it ends.
  class Turn {
   public:
    /// @param known Set to the lock if the process has it; then there is no turn.
    Turn(std::string key, std::shared_ptr<DirectoryLock>* known) : key_(std::move(key)) {
      Registry& registry = instance();
      const base::MutexLock lock(registry.mutex);
      while (true) {
        const auto found = registry.locks.find(key_);
        if (found != registry.locks.end()) {
          *known = found->second.lock();
        }
        if (*known != nullptr) {
          return;
        }
        // Else its last owner has let go of it, and its file is still there.
        if (found == registry.locks.end() && registry.underWay.insert(key_).second) {
          isTaken_ = true;
          return;
        }
        registry.changed.waitUntil(registry.mutex,
                                   std::chrono::steady_clock::now() + std::chrono::seconds(1));
      }
    }
    ~Turn() {
      if (isTaken_) {
        Registry& registry = instance();
        const base::MutexLock lock(registry.mutex);
        registry.underWay.erase(key_);
        registry.changed.notifyAll();
      }
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    const std::string& key() const { return key_; }

   private:
    const std::string key_;
    bool isTaken_ = false;
  };
};

std::optional<DirectoryLock::Sign> DirectoryLock::look(const std::string& directory,
                                                       const std::string& suffix) {
  const std::string path = directory + kName + suffix;
  const base::FileDescriptor file = openOwner(path);
  struct stat status {};
  if (!file.isOpen() || ::fstat(file.number(), &status) != 0) {
    return std::nullopt;
  }
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const std::chrono::nanoseconds age(nanosOf(now) - nanosOf(status.st_mtim));
  return Sign{readOwner(file).describe(), std::max(age, std::chrono::nanoseconds::zero())};
}

DirectoryLock::Result DirectoryLock::acquire(const std::string& directory,
                                             const std::string& suffix, const Times& times) {
  Result result;
  struct stat status {};
  if (::stat(directory.c_str(), &status) != 0) {
    result.problem = boxError("read", directory, errno);
    return result;
  }
  const Registry::Turn turn(
      std::to_string(status.st_dev) + " " + std::to_string(status.st_ino) + " " + suffix,
      &result.lock);
  if (result.lock != nullptr) {
    return result;
  }
  auto held = std::make_shared<Held>();
  held->path = directory + kName + suffix;
  held->text = Owner::ofThisProcess().encode();
  held->file = take(held->path, held->text, times, &result);
  if (!held->file.isOpen()) {
    return result;
  }
  result.lock.reset(new DirectoryLock(held));
  Registry& registry = Registry::instance();
  const base::MutexLock lock(registry.mutex);
  registry.locks[turn.key()] = result.lock;
  registry.held[held.get()] = std::move(held);
  registry.startThread(times.renewal);
  return result;
}

DirectoryLock::~DirectoryLock() {
  std::unique_ptr<base::LoopThread> ending;
  {
    Registry& registry = Registry::instance();
    const base::MutexLock lock(registry.mutex);
    registry.held.erase(held_.get());
    if (held_->process != ::getpid()) {
      return;
    }
    // First the name, while the lock is held: whoever waits for it looks whether it has the name.
    if (isNameOf(held_->file, held_->path) && hasText(held_->file, held_->text)) {
      ::unlink(held_->path.c_str());
    }
    for (auto each = registry.locks.begin(); each != registry.locks.end();) {
      each = each->second.expired() ? registry.locks.erase(each) : std::next(each);
    }
    registry.changed.notifyAll();
    if (registry.held.empty()) {
      // Outside of the lock, which its last call may take.
      ending = std::move(registry.thread);
    }
  }
}

}  // namespace steptape::detail::process
