// SPDX-License-Identifier: Apache-2.0
#include "c/calls.h"

#include "steptape/base/version.h"

namespace steptape::detail::c {
namespace {

thread_local std::string lastMessage;

}  // namespace

steptape_status statusOf(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return STEPTAPE_INVALID_ARGUMENT;
    case ErrorCode::kIoError:
      return STEPTAPE_IO_ERROR;
    case ErrorCode::kDataLoss:
      return STEPTAPE_DATA_LOSS;
    case ErrorCode::kDeadlineExceeded:
      return STEPTAPE_DEADLINE_EXCEEDED;
    case ErrorCode::kResourceExhausted:
      return STEPTAPE_RESOURCE_EXHAUSTED;
    case ErrorCode::kRankMismatch:
      return STEPTAPE_RANK_MISMATCH;
    case ErrorCode::kFailedPrecondition:
      return STEPTAPE_FAILED_PRECONDITION;
  }
  return STEPTAPE_INTERNAL;
}

steptape_status fail(steptape_status status, const char* message) noexcept {
  try {
    lastMessage = message;
  } catch (const std::bad_alloc&) {
    lastMessage.clear();  // the status says enough
  }
  return status;
}

steptape_status fail(const Error& error) noexcept {
  return fail(statusOf(error.code()), error.what());
}

steptape_status fail(const Status& status) noexcept {
  return fail(statusOf(status.code()), status.message().c_str());
}

}  // namespace steptape::detail::c

extern "C" {

const char* steptape_status_name(steptape_status status) {
  switch (status) {
    case STEPTAPE_OK:
      return "OK";
    case STEPTAPE_INVALID_ARGUMENT:
      return "InvalidArgument";
    case STEPTAPE_IO_ERROR:
      return "IoError";
    case STEPTAPE_DATA_LOSS:
      return "DataLoss";
    case STEPTAPE_DEADLINE_EXCEEDED:
      return "DeadlineExceeded";
    case STEPTAPE_RESOURCE_EXHAUSTED:
      return "ResourceExhausted";
    case STEPTAPE_RANK_MISMATCH:
      return "RankMismatch";
    case STEPTAPE_FAILED_PRECONDITION:
      return "FailedPrecondition";
    case STEPTAPE_INTERNAL:
      return "Internal";
  }
  return "(unknown status)";
}

const char* steptape_error_message(void) {
  return steptape::detail::c::lastMessage.c_str();
}

const char* steptape_version(void) {
  return STEPTAPE_VERSION;
}

}  // extern "C"
