// SPDX-License-Identifier: Apache-2.0
#include "ranks/engine/stuck.h"

#include "base/mutex.h"

namespace steptape::detail::ranks {
namespace {

struct StuckReason {
  base::Mutex mutex;
  std::string text STEPTAPE_GUARDED_BY(mutex);
};

StuckReason& stuckReason() {
  static StuckReason* const kReason =
      new StuckReason();  // also used while static objects are destroyed
  return *kReason;
}

}  // namespace

void markStuck(const std::string& why) {
  StuckReason& reason = stuckReason();
  base::MutexLock lock(reason.mutex);
  if (reason.text.empty()) {
    reason.text = why;
  }
}

std::string stuckBecause() {
  StuckReason& reason = stuckReason();
  base::MutexLock lock(reason.mutex);
  return reason.text;
}

}  // namespace steptape::detail::ranks
