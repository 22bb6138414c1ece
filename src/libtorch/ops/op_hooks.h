// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptape::detail::libtorch {

/// Selects which operators to record, and which data of them.
struct OpHookChoice {
  bool operators = true;  ///< Otherwise only user scopes, without further data.
  bool details = false;   ///< Shapes, types, operations, bytes and module.
  bool devices = false;   ///< Time on devices; see DeviceTimer.
  int sampling = 1;       ///< Records one in this many: 1, 10, 100 or 1000.
};

/// The hook for a choice; null if there is none.
class OpHook;
const OpHook* opHook(const OpHookChoice& choice);

/// Enables or disables LibTorch's calls of a hook.
///
/// @threads Thread-safe; takes effect with each thread's next operator.
void enableOpHook(const OpHook& hook);
void disableOpHook(const OpHook& hook) noexcept;

/// Measures a hook's cost per call in ns, including LibTorch's own overhead. REQUIRES: the hook is
/// enabled; its spans are recorded.
double measureOpHook(const OpHook& hook);

}  // namespace steptape::detail::libtorch
