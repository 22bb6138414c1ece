// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

#include "steptape/base/export.h"

namespace steptape {

/// What kind of thing went wrong; decides whether trying again makes sense.
enum class ErrorCode {
  kInvalidArgument,     ///< The caller's mistake: a shape, an empty tag. Do not retry.
  kIoError,             ///< The system refused: a directory, a file, a full disk. May pass.
  kDataLoss,            ///< Bytes on disk are not what was written.
  kDeadlineExceeded,    ///< A bounded wait ran out. The work may still be done later.
  kResourceExhausted,   ///< A queue or memory limit was reached and data was dropped.
  kRankMismatch,        ///< Ranks disagree; every rank gets the same error.
  kFailedPrecondition,  ///< The call does not fit the state: not initialized, already running.
};

/// The name of `code` without the `k`, such as "InvalidArgument".
STEPTAPE_EXPORT const char* errorCodeName(ErrorCode code);

/// Thrown on the calling thread for mistakes of the caller and for what cannot start.
///
/// `what()` says what was wrong, what was got, what was wanted and where. Trouble on a background
/// thread is never thrown: it is reported as a Status.
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
