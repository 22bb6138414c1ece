// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "server/grpc/message.h"

namespace steptape::detail::server {

/// gRPC's status codes that a service answers with.
enum class StatusCode : int {
  kOk = 0,
  kCancelled = 1,  // gRPC's spelling
  kUnknown = 2,
  kInvalidArgument = 3,
  kNotFound = 5,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
};

/// How a call ends.
struct CallStatus {
  StatusCode code = StatusCode::kOk;
  std::string message;  ///< Any text; the client gets it as valid UTF-8, at most about 2,000 bytes.

  bool ok() const { return code == StatusCode::kOk; }
};

/// The messages of an answer, one after the other, so that a slow client costs one message.
class Answer {
 public:
  /// Called by a worker thread, after the last message or when the client gave up.
  virtual ~Answer() = default;

  /// Makes the next message.
  ///
  /// @param message Empty.
  /// @return false at the end; `status` is then set.
  /// @throws What Service::call() throws.
  /// @threads Called by worker threads, one at a time.
  virtual bool next(Message* message, CallStatus* status) = 0;
};

/// What a gRPC server serves.
class Service {
 public:
  virtual ~Service() = default;

  /// Begins a call.
  ///
  /// @param method  Such as "/tensorboard.data.TensorBoardDataProvider/ListRuns".
  /// @param request The message, during the call only.
  /// @param answer  Set if the returned status is ok.
  /// @throws std::bad_alloc at most, which is answered by kResourceExhausted. Other exceptions are
  ///         answered by kInternal and what().
  /// @threads Called concurrently by worker threads.
  virtual CallStatus call(std::string_view method, std::string_view request,
                          std::unique_ptr<Answer>* answer) = 0;
};

}  // namespace steptape::detail::server
