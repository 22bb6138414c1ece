// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "base/mutex.h"
#include "values/kinds/plot/custom_scalars.h"

namespace steptape::detail::log {

/// The custom-scalars layout of a run, which grows with each call: TensorBoard shows only the last
/// layout written.
///
/// @threads Thread-safe.
class CustomScalarsState {
 public:
  void add(const CustomScalarsLayout& layout) {
    base::MutexLock lock(mutex_);
    CustomScalarsLayout merged = layout_;
    values::mergeLayout(layout, &merged);
    layout_ = std::move(merged);
  }
  /// Returns the complete layout. Called when it is written, so that the last layout written
  /// includes the additions of all threads.
  CustomScalarsLayout whole() const {
    base::MutexLock lock(mutex_);
    return layout_;
  }

 private:
  mutable base::Mutex mutex_;
  CustomScalarsLayout layout_ STEPTAPE_GUARDED_BY(mutex_);
};

}  // namespace steptape::detail::log
