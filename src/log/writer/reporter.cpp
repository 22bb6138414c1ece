// SPDX-License-Identifier: Apache-2.0
#include "log/writer/reporter.h"

#include <cstdio>
#include <utility>

#include "process/blackbox/state_page.h"

namespace steptape::detail::log {
namespace {

void printError(const Status& status) {
  std::fprintf(stderr, "steptape: %s\n", status.message().c_str());
}

}  // namespace

Reporter::Reporter(OnError onError) : onError_(onError ? std::move(onError) : &printError) {}

void Reporter::report(const Status& status) const noexcept {
  process::noteError(status.message());
  try {
    onError_(status);
  } catch (...) {
    // onError must not throw. If it does, for example for lack of memory, the training continues.
  }
}

void Reporter::reportOnce(const std::string& subject, const std::string& what) {
  {
    base::MutexLock lock(mutex_);
    if (!reported_.insert(subject).second) {
      return;
    }
  }
  report({ErrorCode::kInvalidArgument, what});
}

void Reporter::noteFailure(const Status& status) {
  report(status);
  base::MutexLock lock(mutex_);
  if (failure_.ok()) {
    failure_ = status;
  }
}

Status Reporter::takeFailure() {
  base::MutexLock lock(mutex_);
  return std::exchange(failure_, Status());
}

}  // namespace steptape::detail::log
