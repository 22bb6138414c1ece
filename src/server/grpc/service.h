// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace steptape::detail::server {

/// gRPC's status codes that a service answers with.
/// @source https://grpc.github.io/grpc/core/md_doc_statuscodes.html
enum class StatusCode : int {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kNotFound = 5,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14
};

/// How a call has ended.
struct CallStatus {
  StatusCode code = StatusCode::kOk;
  std::string message;

  bool ok() const { return code == StatusCode::kOk; }
};

/// The messages of an answer, one after the other, so that a slow client costs one message.
class Answer {
 public:
  virtual ~Answer() = default;
  /// Appends the next message's bytes to `message`.
  /// @return false at the end; `status` is then set.
  virtual bool next(std::string* message, CallStatus* status) = 0;
};

/// What a server does when it is called.
class Service {
 public:
  virtual ~Service() = default;
  /// @param method Such as "/tensorboard.data.TensorBoardDataProvider/ListRuns".
  /// @param answer Set on success.
  /// @throws std::bad_alloc, which is answered by kResourceExhausted.
  /// @threads Called concurrently by worker threads, as Answer::next() is (one thread at a time for
  ///          one answer).
  virtual CallStatus call(std::string_view method, std::string_view request,
                          std::unique_ptr<Answer>* answer) = 0;
};

}  // namespace steptape::detail::server
