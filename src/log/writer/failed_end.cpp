// SPDX-License-Identifier: Apache-2.0
#include "log/writer/failed_end.h"

#include <utility>

namespace steptape::detail::log {
namespace {

thread_local bool isFailedEndInThread = false;

}  // namespace

FailedEnd::FailedEnd() : before_(std::exchange(isFailedEndInThread, true)) {}

FailedEnd::~FailedEnd() {
  isFailedEndInThread = before_;
}

bool FailedEnd::isInThread() {
  return isFailedEndInThread;
}

}  // namespace steptape::detail::log
