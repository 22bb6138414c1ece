// SPDX-License-Identifier: Apache-2.0
#include "log/writer/captured_queue.h"

#include <exception>
#include <new>
#include <utility>

#include "log/writer/run_streams.h"

namespace steptape::detail::log {

void CapturedQueue::take(std::unique_ptr<CapturedValue> captured, double wallTime) {
  using Order = CapturedValue::Order;
  if (captured->order == Order::kLate) {
    try {
      waiting_.emplace_back();
      waiting_.back() = {std::move(captured), wallTime};
      return;
    } catch (const std::bad_alloc&) {
      // Out of memory to defer it: handle it now, after the deferred values.
    }
  }
  while (captured->order != Order::kInPlace && !waiting_.empty()) {
    encodeNext();
  }
  while (encode(captured.get(), wallTime)) {
  }
}

void CapturedQueue::encodeNext() {
  const WaitingValue& next = waiting_.front();
  if (!encode(next.captured.get(), next.wallTime)) {
    waiting_.pop_front();
  }
}

/// @return whether it wants to be called again.
bool CapturedQueue::encode(CapturedValue* captured, double wallTime) noexcept {
  hasEncoded_ = true;
  RunStreams* const run = captured->run;
  bool again = false;
  const CapturedValue::Place place{run->mainStream(),
                                   &series_,
                                   captured->step,
                                   captured->wallTime.value_or(wallTime),
                                   captured->wallTime.has_value(),
                                   &again};
  try {
    const Status status = captured->work(place);
    if (!status.ok()) {
      run->context().reporter().noteFailure(status);
    } else if (again) {
      return true;
    }
  } catch (const std::exception& error) {
    run->context().losses().countLost(error, captured->scalars, captured->values());
  }
  run->context().memory().releaseCaptured(captured->bytes);
  return false;
}

}  // namespace steptape::detail::log
