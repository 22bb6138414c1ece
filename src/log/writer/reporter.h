// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <unordered_set>

#include "steptape/base/status.h"

#include "base/mutex.h"

namespace steptape::detail::log {

/// Reports failures to the user: through WriterOptions::onError, and as results of flush() and
/// close().
///
/// @threads Thread-safe. Holds no lock while `onError` runs, and ignores its exceptions.
class Reporter {
 public:
  using OnError = std::function<void(const Status&)>;

  /// @param onError Null means one line to stderr.
  explicit Reporter(OnError onError);

  void report(const Status& status) const noexcept;

  /// Reports `what` the first time it occurs.
  void reportOnce(const std::string& what) { reportOnce(what, what); }
  /// Reports `what` if it is the first message about `subject`.
  void reportOnce(const std::string& subject, const std::string& what);

  /// Reports a failure that is not retried, and keeps it for the next flush() or close().
  void noteFailure(const Status& status);
  /// Returns the first failure since the last call.
  Status takeFailure();

 private:
  const OnError onError_;
  base::Mutex mutex_;
  std::unordered_set<std::string> reported_ STEPTAPE_GUARDED_BY(mutex_);  // subjects
  Status failure_ STEPTAPE_GUARDED_BY(mutex_);
};

}  // namespace steptape::detail::log
