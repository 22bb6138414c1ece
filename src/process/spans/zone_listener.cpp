// SPDX-License-Identifier: Apache-2.0
#include "process/spans/zone_listener.h"

#include "steptape/process/zone.h"

#include "base/mutex.h"
#include "process/blackbox/state_page.h"
#include "process/spans/name_cache.h"

namespace steptape::detail::process {
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
    const base::MutexLock lock(mutex_);
    if (count_++ == 0) {
      zoneSession.fetch_or(kZoneListenerBit, std::memory_order_relaxed);
    }
  }
  void remove() noexcept {
    const base::MutexLock lock(mutex_);
    if (--count_ == 0) {
      zoneSession.fetch_and(~kZoneListenerBit, std::memory_order_relaxed);
    }
  }

 private:
  base::Mutex mutex_;
  int count_ STEPTAPE_GUARDED_BY(mutex_) = 0;
};

/// Makes zones store into `page`, or no longer if it is null.
void keepZonesIn(StatePage* page) {
  if (page != nullptr) {
    copySpanNamesTo(page);
    zoneSession.fetch_or(kZoneKeptBit, std::memory_order_relaxed);
  } else {
    zoneSession.fetch_and(~kZoneKeptBit, std::memory_order_relaxed);
  }
}

// In the file of setZoneSession(), which every program with zones links.
[[maybe_unused]] const bool kListensToPages = [] {
  StatePage::setListener(&keepZonesIn);
  return true;
}();

}  // namespace

void setZoneSession(std::uint32_t session) noexcept {
  std::uint32_t known = zoneSession.load(std::memory_order_relaxed);
  while (!zoneSession.compare_exchange_weak(known, (known & ~kZoneSessionBits) | session,
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

}  // namespace steptape::detail::process
