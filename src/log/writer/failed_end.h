// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steptape/base/export.h"

namespace steptape::detail::log {

/// While it lives, writers that end in this thread record the failure of their program: for
/// languages whose exceptions std::uncaught_exceptions() does not count.
class STEPTAPE_EXPORT FailedEnd {
 public:
  FailedEnd();
  ~FailedEnd();
  FailedEnd(const FailedEnd&) = delete;
  FailedEnd& operator=(const FailedEnd&) = delete;

  /// Returns whether one lives in this thread.
  static bool isInThread();

 private:
  bool before_;
};

}  // namespace steptape::detail::log
