// SPDX-License-Identifier: Apache-2.0
#include "c/writer_slots.h"

#include <deque>
#include <string>

#include "base/mutex.h"

namespace steptape::detail::c {
namespace {

/// All handles of the process.
class Slots {
 public:
  steptape_writer* add(std::unique_ptr<OpenRun> run) {
    const base::MutexLock lock(mutex_);
    steptape_writer& slot = slots_.emplace_back();
    slot.writer.store(&run->writer(), std::memory_order_relaxed);
    slot.run.store(run.release(), std::memory_order_relaxed);
    return &slot;
  }

  void closeAll() {
    const base::MutexLock lock(mutex_);
    for (steptape_writer& slot : slots_) {
      takeFrom(&slot);
    }
  }

 private:
  base::Mutex mutex_;
  std::deque<steptape_writer> slots_ STEPTAPE_GUARDED_BY(mutex_);
};

/// Never destroyed: threads may log while the process ends.
Slots& slots() {
  static auto* const kSlots = new Slots;
  return *kSlots;
}

/// Closes writers that are still open when the process ends by exit().
struct CloserAtExit {
  ~CloserAtExit() { slots().closeAll(); }
};

}  // namespace

steptape_writer* makeSlot(std::unique_ptr<OpenRun> run) {
  static const CloserAtExit kCloser;
  return slots().add(std::move(run));
}

std::unique_ptr<OpenRun> takeFrom(steptape_writer* slot) noexcept {
  slot->writer.store(nullptr);
  return std::unique_ptr<OpenRun>(slot->run.exchange(nullptr));
}

steptape_status failForWriter(const char* function, const steptape_writer* slot) noexcept {
  return call(function, [&] {
    throw Error(ErrorCode::kInvalidArgument, std::string(function) + ": got a writer that is " +
                                                 (slot == nullptr ? "NULL" : "closed") +
                                                 "; expected one of steptape_open() that is open");
  });
}

}  // namespace steptape::detail::c
