// SPDX-License-Identifier: Apache-2.0
#include "steptape/base/status.h"

namespace steptape {

const char* errorCodeName(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "InvalidArgument";
    case ErrorCode::kIoError:
      return "IoError";
    case ErrorCode::kDataLoss:
      return "DataLoss";
    case ErrorCode::kDeadlineExceeded:
      return "DeadlineExceeded";
    case ErrorCode::kResourceExhausted:
      return "ResourceExhausted";
    case ErrorCode::kRankMismatch:
      return "RankMismatch";
    case ErrorCode::kFailedPrecondition:
      return "FailedPrecondition";
  }
  return "Unknown";
}

}  // namespace steptape
