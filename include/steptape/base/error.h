// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

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

}  // namespace steptape
