// SPDX-License-Identifier: Apache-2.0
#include "span/zone_listener.h"

#include "steptape/span/zone.h"

#include "base/mutex.h"

namespace steptape::detail {
namespace {

thread_local ZoneListener* currentListener = nullptr;

/// Sets the bit in zoneSession while there are listeners.
class ListenerCount {
 public:
  // Never destroyed: threads may outlive main().
  static ListenerCount& instance() {
    static auto* const kCount = new ListenerCount;
    return *kCount;
  }

  void add() noexcept {
    const MutexLock lock(mutex_);
    if (count_++ == 0) {
      zoneSession.fetch_or(kZoneListenerBit, std::memory_order_relaxed);
    }
  }
  void remove() noexcept {
    const MutexLock lock(mutex_);
    if (--count_ == 0) {
      zoneSession.fetch_and(~kZoneListenerBit, std::memory_order_relaxed);
    }
  }

 private:
  Mutex mutex_;
  int count_ STEPTAPE_GUARDED_BY(mutex_) = 0;
};

}  // namespace

void setZoneSession(std::uint32_t session) noexcept {
  std::uint32_t known = zoneSession.load(std::memory_order_relaxed);
  while (!zoneSession.compare_exchange_weak(known, (known & kZoneListenerBit) | session,
                                            std::memory_order_relaxed)) {
  }
}

ZoneListener* zoneListener() noexcept {
  return currentListener;
}

ListenToZones::ListenToZones(ZoneListener* listener) noexcept : outer_(currentListener) {
  currentListener = listener;
  ListenerCount::instance().add();
}

ListenToZones::~ListenToZones() {
  ListenerCount::instance().remove();
  currentListener = outer_;
}

}  // namespace steptape::detail
