// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "server/grpc/service.h"

namespace steptape::detail::server {

/// The most bytes of an answer that TensorBoard's client takes.
inline constexpr std::size_t kMostAnswerBytes = std::size_t{256} << 20;

/// Returns the status of an answer that would be larger.
/// @param what The name of the call.
CallStatus tooLarge(const std::string& what);

/// Returns an answer of one message.
std::unique_ptr<Answer> oneMessage(std::string bytes);

/// Returns a blob in messages of 8 MiB, as 0.7.2's.
std::unique_ptr<Answer> blobParts(std::string blob);

/// Answers with a response of Protocol Buffers, unless it is too large.
template <typename Response>
CallStatus answerWith(const Response& response, const char* what, std::unique_ptr<Answer>* answer) {
  if (response.ByteSizeLong() > kMostAnswerBytes) {
    return tooLarge(what);
  }
  *answer = oneMessage(response.SerializeAsString());
  return {};
}

}  // namespace steptape::detail::server
