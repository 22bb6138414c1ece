// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "server/grpc/service.h"

// The form of gRPC's messages and statuses on HTTP/2.
// @source https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md

namespace steptape::detail::server {

/// Before each message: whether it is compressed, and its size in four bytes, big-endian.
constexpr std::size_t kMessagePrefixBytes = 5;
/// What TensorBoard's client accepts.
constexpr std::size_t kMaxAnswerBytes = 256 << 20;

/// Returns the prefix of a message of `size` bytes. REQUIRES: less than 4 GiB.
std::string messagePrefix(std::size_t size);

/// Finds the one message in the body of a request.
/// @param message Refers to `body`.
/// @return what is wrong with the body, if it is not ok.
CallStatus messageOf(std::string_view body, std::string_view* message);

/// Returns the text as the field grpc-message has it: printable ASCII, the rest and '%' as %XX.
std::string percentEncoded(std::string_view text);

/// Returns the status's message as percentEncoded(), valid UTF-8 and short enough for a header
/// block: clients discard larger ones, and the status with them.
std::string statusMessageField(const CallStatus& status);

/// Whether a request's content type is gRPC's, with or without the encoding of its messages.
bool isGrpcContentType(std::string_view contentType);

}  // namespace steptape::detail::server
