// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "base/mutex.h"
#include "summary/plot/custom_scalars.h"

namespace steptape::detail {

/// The one custom-scalars layout of a run, which grows with each call: of several that are written
/// TensorBoard shows the last.
///
/// @threads Thread-safe.
class RunLayout {
 public:
  void add(const CustomScalarsLayout& layout) {
    MutexLock lock(mutex_);
    CustomScalarsLayout merged = layout_;
    mergeLayout(layout, &merged);
    layout_ = std::move(merged);
  }
  /// All of it. Asked for when it is written, so that of calls on several threads the last one to
  /// be written holds what all of them added.
  CustomScalarsLayout whole() const {
    MutexLock lock(mutex_);
    return layout_;
  }

 private:
  mutable Mutex mutex_;
  CustomScalarsLayout layout_ STEPTAPE_GUARDED_BY(mutex_);
};

}  // namespace steptape::detail
