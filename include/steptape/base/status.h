// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "steptape/base/export.h"

namespace steptape {

/// The kind of a failure; tells whether a retry makes sense.
enum class ErrorCode {
  kInvalidArgument,     ///< An invalid argument, such as an empty tag. Do not retry.
  kIoError,             ///< The operating system failed, such as on a full disk. May pass.
  kDataLoss,            ///< Stored bytes are damaged.
  kDeadlineExceeded,    ///< A wait timed out. The work may still be done later.
  kResourceExhausted,   ///< A queue or memory limit was reached, and data was discarded.
  kRankMismatch,        ///< Ranks disagree; every rank gets this error.
  kFailedPrecondition,  ///< The state does not allow the call, such as before initialization.
};

/// Returns the name of `code` without the `k`, such as "InvalidArgument".
STEPTAPE_EXPORT const char* errorCodeName(ErrorCode code);

/// The exception that calls throw for invalid arguments, and for work that cannot start.
///
/// `what()` names the call, what it got and what it expected, and where. Failures on a background
/// thread are never thrown: they are reported as a Status.
///
/// @threads Thread-compatible: const methods may run concurrently.
class STEPTAPE_EXPORT Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}

  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

/// The result of work that may fail in normal operation, such as a write to a full disk.
///
/// Success is a null pointer: cheap to return and to copy. Compilers warn about a Status that is
/// ignored. A writer also reports its failures through WriterOptions::onError.
///
/// @threads Thread-compatible: const methods may run concurrently.
class [[nodiscard]] STEPTAPE_EXPORT Status {
 public:
  /// Success.
  Status() = default;
  Status(ErrorCode code, std::string message)
      : state_(std::make_shared<State>(State{code, std::move(message)})) {}

  bool ok() const noexcept { return state_ == nullptr; }

  /// Returns what failed, where, what was got and expected; empty on success.
  const std::string& message() const noexcept;

  /// Returns the kind of failure. REQUIRES: !ok().
  ErrorCode code() const noexcept { return state_->code; }

  /// Throws the failure as an Error; does nothing on success.
  void throwIfError() const;

 private:
  struct State {
    ErrorCode code;
    std::string message;
  };
  std::shared_ptr<const State> state_;
};

}  // namespace steptape
