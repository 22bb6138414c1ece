// SPDX-License-Identifier: Apache-2.0
#include "server/grpc/grpc_call.h"

#include <exception>
#include <new>
#include <utility>

#include "base/got_expected.h"
#include "base/text.h"
#include "server/grpc/grpc_wire.h"

namespace steptape::detail::server {
namespace {

/// Without a message if there is no memory for one.
CallStatus statusOf(StatusCode code, const char* message) noexcept {
  CallStatus status{code, {}};
  try {
    status.message = message;
  } catch (const std::bad_alloc&) {
    // The code says enough.
  }
  return status;
}

}  // namespace

bool GrpcCall::makeMessage(Service* service, Message* message, CallStatus* status) {
  if (answer_ == nullptr) {
    *status = service->call(method_, std::string_view(body_).substr(kMessagePrefixBytes), &answer_);
    body_ = std::string();
    if (!status->ok() || answer_ == nullptr) {
      return false;
    }
  }
  if (!answer_->next(message, status)) {
    return false;
  }
  const std::size_t size = message->size();
  if (size > kMaxAnswerBytes) {
    *status = {StatusCode::kResourceExhausted,
               "answer to " + method_ + ": " +
                   base::gotExpected(base::counted(size, "byte"),
                                     "at most " + std::to_string(kMaxAnswerBytes) +
                                         ", which TensorBoard accepts; ask for fewer runs, tags "
                                         "or points at a time")};
    return false;
  }
  message->prepend(messagePrefix(size));
  return true;
}

void GrpcCall::work(Service* service) noexcept {
  bool isCanceled = false;
  {
    const base::MutexLock lock(mutex_);
    hasBegun_ = true;
    isCanceled = isCanceled_;
  }
  Message message;
  CallStatus status;
  bool hasMessage = false;
  if (!isCanceled) {
    try {
      hasMessage = makeMessage(service, &message, &status);
    } catch (const std::bad_alloc&) {
      status = statusOf(StatusCode::kResourceExhausted,
                        "answer: got not enough memory; ask for fewer runs, tags or points at a "
                        "time");
    } catch (const std::exception& error) {
      status = statusOf(StatusCode::kInternal, error.what());
    } catch (...) {
      status = statusOf(StatusCode::kInternal, "unknown exception");
    }
  }
  std::unique_ptr<Answer> ended;  // destroyed without the lock
  const base::MutexLock lock(mutex_);
  isClaimed_ = false;
  if (hasMessage && !isCanceled_) {
    message_ = std::move(message);
    hasMessage_ = true;
    return;
  }
  hasEnded_ = true;
  status_ = std::move(status);
  ended = std::move(answer_);
}

bool GrpcCall::claim() {
  const base::MutexLock lock(mutex_);
  const bool isFree = !isClaimed_ && !hasMessage_ && !hasEnded_ && !isCanceled_;
  isClaimed_ = isClaimed_ || isFree;
  return isFree;
}

GrpcCall::Outcome GrpcCall::take(Message* message, CallStatus* status) {
  const base::MutexLock lock(mutex_);
  if (hasMessage_) {
    *message = std::exchange(message_, {});
    hasMessage_ = false;
    return Outcome::kMessage;
  }
  if (hasEnded_) {
    *status = std::move(status_);
    return Outcome::kEnd;
  }
  return Outcome::kNothing;
}

GrpcCall::Rest GrpcCall::cancel() {
  Message unused;  // freed without the lock
  const base::MutexLock lock(mutex_);
  isCanceled_ = true;
  std::swap(unused, message_);
  hasMessage_ = false;
  if (hasEnded_) {
    return Rest::kNothing;
  }
  if (isClaimed_) {
    return hasBegun_ ? Rest::kNothing : Rest::kUnbegun;
  }
  isClaimed_ = true;
  return Rest::kAnswer;
}

}  // namespace steptape::detail::server
