// SPDX-License-Identifier: Apache-2.0
#include "server/grpc/grpc_exchange.h"

#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "base/got_expected.h"
#include "server/grpc/grpc_wire.h"
#include "server/http2/http2_session.h"

namespace steptape::detail::server {
namespace {

Http2Fields grpcHead() {
  return {{":status", "200"},
          {"content-type", "application/grpc"},
          {"grpc-accept-encoding", "identity"}};
}

void addStatus(const CallStatus& status, Http2Fields* fields) {
  fields->push_back({"grpc-status", std::to_string(static_cast<int>(status.code))});
  if (!status.message.empty()) {
    fields->push_back({"grpc-message", statusMessageField(status)});
  }
}

/// An answer that is known at once.
class FinishedExchange : public Http2Exchange {
 public:
  explicit FinishedExchange(Http2Fields head) : head_(std::move(head)) {}

  bool head(Http2Head* head) override {
    *head = {std::move(head_), true};
    return true;
  }
  Http2Read read(char* /*out*/, std::size_t /*size*/) override { return {0, true}; }
  Http2Fields trailers() override { return {}; }

 private:
  Http2Fields head_;
};

std::unique_ptr<Http2Exchange> finished(const CallStatus& status) {
  Http2Fields fields = grpcHead();
  addStatus(status, &fields);
  return std::make_unique<FinishedExchange>(std::move(fields));
}

/// The answer of a call.
class CallExchange : public Http2Exchange {
 public:
  CallExchange(std::shared_ptr<GrpcCall> call, CallQueue* queue)
      : call_(std::move(call)), queue_(queue) {
    continueCall();
  }
  CallExchange(const CallExchange&) = delete;
  CallExchange& operator=(const CallExchange&) = delete;
  ~CallExchange() override;

  bool head(Http2Head* head) override;
  Http2Read read(char* out, std::size_t size) override;
  Http2Fields trailers() override;

 private:
  /// Lets a worker thread make what comes next, unless one does or did.
  void continueCall() {
    if (call_->claim()) {
      queue_->add(call_);
    }
  }
  /// Makes the next message the current one. @return false if there is none yet, or none any more.
  bool advance();

  const std::shared_ptr<GrpcCall> call_;
  CallQueue* const queue_;
  Message message_;           ///< What is left of the current one.
  std::size_t halfSize_ = 0;  ///< Of the current one when it was whole.
  bool hasEnded_ = false;
  CallStatus status_;
};

CallExchange::~CallExchange() {
  try {
    switch (call_->cancel()) {
      case GrpcCall::Rest::kNothing:
        break;
      case GrpcCall::Rest::kUnbegun:
        queue_->remove(call_.get());
        break;
      case GrpcCall::Rest::kAnswer:
        queue_->add(call_);
        break;
    }
  } catch (const std::bad_alloc&) {
    // Then this thread destroys the answer.
  }
}

bool CallExchange::advance() {
  if (hasEnded_) {
    return false;
  }
  switch (call_->take(&message_, &status_)) {
    case GrpcCall::Outcome::kNothing:
      return false;
    case GrpcCall::Outcome::kEnd:
      hasEnded_ = true;
      return false;
    case GrpcCall::Outcome::kMessage:
      halfSize_ = message_.size() / 2;
      return true;
  }
  return false;
}

bool CallExchange::head(Http2Head* head) {
  if (!advance() && !hasEnded_) {
    return false;
  }
  head->fields = grpcHead();
  head->isWhole = hasEnded_;
  if (hasEnded_) {
    addStatus(status_, &head->fields);
  }
  return true;
}

Http2Read CallExchange::read(char* out, std::size_t size) {
  std::size_t copied = 0;
  while (copied < size) {
    if (message_.size() == 0) {
      continueCall();
      if (!advance()) {
        break;
      }
    }
    // The next message is made while the second half of this one is sent.
    const bool wasFirstHalf = message_.size() > halfSize_;
    copied += message_.take(out + copied, size - copied);
    if (wasFirstHalf && message_.size() <= halfSize_) {
      continueCall();
    }
  }
  return {copied, hasEnded_};
}

Http2Fields CallExchange::trailers() {
  Http2Fields fields;
  addStatus(status_, &fields);
  return fields;
}

}  // namespace

std::unique_ptr<Http2Exchange> GrpcHandler::start(const Http2StreamId& id, Http2Request request) {
  if (request.method != "POST") {
    return std::make_unique<FinishedExchange>(Http2Fields{{":status", "405"}, {"allow", "POST"}});
  }
  if (!isGrpcContentType(request.contentType)) {
    return std::make_unique<FinishedExchange>(Http2Fields{{":status", "415"}});
  }
  if (request.isTooLarge) {
    return finished({StatusCode::kResourceExhausted,
                     "request to " + request.path + ": " +
                         base::gotExpected("more than " + std::to_string(kMaxRequestBytes) +
                                               " bytes, or too many such requests",
                                           "fewer: ask for fewer runs or tags at a time")});
  }
  std::string_view message;
  const CallStatus status = messageOf(request.body, &message);
  if (!status.ok()) {
    return finished(status);
  }
  return std::make_unique<CallExchange>(
      std::make_shared<GrpcCall>(id, std::move(request.path), std::move(request.body)), queue_);
}

}  // namespace steptape::detail::server
