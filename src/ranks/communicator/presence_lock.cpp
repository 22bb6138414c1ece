// SPDX-License-Identifier: Apache-2.0
#include "ranks/communicator/presence_lock.h"

#include <cerrno>
#include <fcntl.h>
#include <set>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fork_handlers.h"
#include "base/mutex.h"

namespace steptape::detail::ranks {
namespace {

#if defined(F_OFD_SETLK)
struct flock byteOf(int localRank) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = localRank;
  lock.l_len = 1;
  return lock;
}

void lockByte(int file, int localRank) {
  struct flock lock = byteOf(localRank);
  static_cast<void>(fcntl(file, F_OFD_SETLK, &lock));
}

bool isLocked(int file, int localRank) {
  struct flock lock = byteOf(localRank);
  return fcntl(file, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}
#else
void lockByte(int /*file*/, int /*localRank*/) {}
bool isLocked(int /*file*/, int /*localRank*/) {
  return true;
}
#endif

}  // namespace

/// The locks of this process, which a forked child closes. Its mutex is held during fork(), so that
/// the child inherits no descriptor that is not in it.
struct PresenceLock::Registry {
  base::Mutex mutex;
  std::set<PresenceLock*> locks STEPTAPE_GUARDED_BY(mutex);

  static Registry& instance() {
    // Never destroyed: memory may outlive main().
    static constexpr base::ForkHandlers kHandlers{[] { return &instance().mutex; },
                                                  &afterForkInChild};
    static Registry* const kRegistry = [] {
      base::addForkHandlers(base::ForkOrder::kPresence, kHandlers);
      return new Registry;
    }();
    return *kRegistry;
  }

  // Called with the mutex, which the analysis cannot follow.
  static void afterForkInChild() STEPTAPE_THREAD_ANNOTATION(no_thread_safety_analysis) {
    for (PresenceLock* lock : instance().locks) {
      close(lock->descriptor_);
      lock->descriptor_ = -1;
    }
    instance().locks.clear();
  }
};

PresenceLock::~PresenceLock() {
  if (descriptor_ >= 0) {
    const base::MutexLock lock(Registry::instance().mutex);
    Registry::instance().locks.erase(this);
    close(descriptor_);
  }
}

int PresenceLock::take(const std::string& name, int localRank) {
  Registry& registry = Registry::instance();
  const base::MutexLock lock(registry.mutex);
  const auto place = registry.locks.insert(this).first;
  descriptor_ = shm_open(name.c_str(), O_RDWR | O_CLOEXEC, 0);
  if (descriptor_ < 0) {
    const int error = errno;
    registry.locks.erase(place);
    return error;
  }
  lockByte(descriptor_, localRank);
  return 0;
}

bool PresenceLock::isHeldBy(int localRank) const {
  return isLocked(descriptor_, localRank);
}

}  // namespace steptape::detail::ranks
