// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptape {

/// Which operators are recorded, and what of them.
struct OpHookChoice {
  bool operators = true;  ///< Otherwise user scopes only, of which nothing else is recorded.
  bool details = false;   ///< Shapes, types, operations, bytes and module of a call.
  bool devices = false;   ///< Time on devices, see DeviceTimer.
  int sampling = 1;       ///< One in so many: 1, 10, 100 or 1000.
};

/// The hook for a choice; null if there is none.
class OpHook;
const OpHook* opHook(const OpHookChoice& choice);

/// Lets LibTorch call a hook, or no longer.
///
/// @threads Thread-safe; takes effect with each thread's next operator.
void enableOpHook(const OpHook& hook);
void disableOpHook(const OpHook& hook) noexcept;

/// What a hook costs for one call, LibTorch's own work for it included, in ns. REQUIRES: it is
/// enabled; its spans are recorded.
double measureOpHook(const OpHook& hook);

}  // namespace steptape
