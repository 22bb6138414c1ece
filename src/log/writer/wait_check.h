// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steptape/base/export.h"

namespace steptape::detail::log {

/// While it lives, flush() and close() of any writer in this thread call a function about 20 times
/// a second as long as they wait, and give up when it returns false: for languages whose users
/// interrupt a program that waits.
class STEPTAPE_EXPORT WaitCheck {
 public:
  using Function = bool (*)();

  explicit WaitCheck(Function mayWait);
  ~WaitCheck();
  WaitCheck(const WaitCheck&) = delete;
  WaitCheck& operator=(const WaitCheck&) = delete;

  /// Returns the function of this thread; null if there is none.
  static Function ofThread();

 private:
  Function before_;
};

}  // namespace steptape::detail::log
