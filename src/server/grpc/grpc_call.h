// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/mutex.h"
#include "server/grpc/service.h"
#include "server/http2/http2_exchange.h"

namespace steptape::detail::server {

/// A call of a service: worker threads make its messages, one at a time, and the I/O thread takes
/// them. At most one message waits to be taken.
///
/// @threads As the calls say.
class GrpcCall {
 public:
  /// @param body As messageOf() accepts it.
  GrpcCall(const Http2StreamId& id, std::string method, std::string body)
      : id_(id), method_(std::move(method)), body_(std::move(body)) {}

  const Http2StreamId& id() const { return id_; }

  /// Begins the call, or makes its next message or its end.
  /// @threads A worker thread, once after each claim().
  void work(Service* service) noexcept;

  /// Whether the caller must let a worker thread work(): there is neither a message nor the end,
  /// and no worker thread is about to make one.
  /// @threads The I/O thread.
  bool claim();

  enum class Outcome { kNothing, kMessage, kEnd };
  /// Takes what there is. Before the end come all messages.
  /// @param message With its prefix.
  /// @threads The I/O thread.
  Outcome take(Message* message, CallStatus* status);

  enum class Rest { kNothing, kUnbegun, kAnswer };
  /// Forgets the call, which nobody waits for any more.
  /// @return kUnbegun if work() may be called and need not be; kAnswer if it must be called once
  ///         more, to destroy the answer.
  /// @threads The I/O thread.
  Rest cancel();

 private:
  /// @return false at the end.
  bool makeMessage(Service* service, Message* message, CallStatus* status);

  const Http2StreamId id_;
  const std::string method_;

  // Of the thread that works.
  std::string body_;
  std::unique_ptr<Answer> answer_;

  base::Mutex mutex_;
  bool isClaimed_ STEPTAPE_GUARDED_BY(mutex_) = false;
  bool hasBegun_ STEPTAPE_GUARDED_BY(mutex_) = false;
  bool isCanceled_ STEPTAPE_GUARDED_BY(mutex_) = false;
  bool hasMessage_ STEPTAPE_GUARDED_BY(mutex_) = false;
  bool hasEnded_ STEPTAPE_GUARDED_BY(mutex_) = false;
  Message message_ STEPTAPE_GUARDED_BY(mutex_);
  CallStatus status_ STEPTAPE_GUARDED_BY(mutex_);
};

}  // namespace steptape::detail::server
