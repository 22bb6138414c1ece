// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "server/grpc/service.h"

namespace steptape::detail::server {

/// The most bytes of an answer that TensorBoard's client takes.
inline constexpr std::size_t kMostAnswerBytes = std::size_t{256} << 20;

/// Returns the status of an answer that would be larger.
/// @param what The name of the call.
CallStatus tooLarge(const std::string& what);

/// An answer of one message of Protocol Buffers, which becomes bytes when it is wanted.
template <typename Response>
class OneMessage final : public Answer {
 public:
  explicit OneMessage(Response response) : response_(std::move(response)) {}

  bool next(Message* message, CallStatus* status) override {
    *status = CallStatus();
    if (std::exchange(isTaken_, true)) {
      return false;
    }
    message->append(response_.SerializeAsString());
    response_ = Response();
    return true;
  }

 private:
  Response response_;
  bool isTaken_ = false;
};

/// Returns a blob in messages of 8 MiB, as 0.7.2's.
std::unique_ptr<Answer> blobParts(std::string blob);

/// Answers with a response, unless it is too large.
template <typename Response>
CallStatus answerWith(Response response, const char* what, std::unique_ptr<Answer>* answer) {
  if (response.ByteSizeLong() > kMostAnswerBytes) {
    return tooLarge(what);
  }
  *answer = std::make_unique<OneMessage<Response>>(std::move(response));
  return {};
}

}  // namespace steptape::detail::server
