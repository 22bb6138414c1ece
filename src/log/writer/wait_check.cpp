// SPDX-License-Identifier: Apache-2.0
#include "log/writer/wait_check.h"

#include <utility>

namespace steptape::detail::log {
namespace {

thread_local WaitCheck::Function waitCheckOfThread = nullptr;

}  // namespace

WaitCheck::WaitCheck(Function mayWait) : before_(std::exchange(waitCheckOfThread, mayWait)) {}

WaitCheck::~WaitCheck() {
  waitCheckOfThread = before_;
}

WaitCheck::Function WaitCheck::ofThread() {
  return waitCheckOfThread;
}

}  // namespace steptape::detail::log
