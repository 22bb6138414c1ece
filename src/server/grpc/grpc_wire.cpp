// SPDX-License-Identifier: Apache-2.0
#include "server/grpc/grpc_wire.h"

#include <cstdint>

#include "base/got_expected.h"
#include "base/text.h"
#include "base/utf8.h"

namespace steptape::detail::server {
namespace {

/// Three times as many when encoded, which is half of what clients accept.
constexpr std::size_t kMaxStatusMessageBytes = 2'000;

}  // namespace

std::string messagePrefix(std::size_t size) {
  std::string prefix(kMessagePrefixBytes, '\0');  // the first: not compressed
  for (std::size_t i = 1; i < kMessagePrefixBytes; ++i) {
    prefix[i] = static_cast<char>(std::uint64_t{size} >> (8 * (kMessagePrefixBytes - 1 - i)));
  }
  return prefix;
}

CallStatus messageOf(std::string_view body, std::string_view* message) {
  if (body.size() < kMessagePrefixBytes) {
    return {StatusCode::kInvalidArgument,
            "request: " + base::gotExpected(base::counted(body.size(), "byte"),
                                            "a message and the 5 bytes before it")};
  }
  if (body[0] != 0) {
    return {StatusCode::kUnimplemented,
            "request: " + base::gotExpected("a compressed message",
                                            "one that is not (grpc-encoding: identity)")};
  }
  std::uint64_t size = 0;
  for (const char byte : body.substr(1, kMessagePrefixBytes - 1)) {
    size = size << 8 | static_cast<std::uint8_t>(byte);
  }
  *message = body.substr(kMessagePrefixBytes);
  if (message->size() != size) {
    return {StatusCode::kInvalidArgument,
            "request: " + base::gotExpected(base::counted(message->size(), "byte"),
                                            "one message of " + base::counted(size, "byte"))};
  }
  return {};
}

std::string percentEncoded(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  encoded.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<std::uint8_t>(c);
    if (byte >= 0x20 && byte < 0x7F && c != '%') {
      encoded += c;
    } else {
      encoded += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return encoded;
}

std::string statusMessageField(const CallStatus& status) {
  std::string text = base::replaceInvalidUtf8(status.message);
  if (text.size() > kMaxStatusMessageBytes) {
    std::size_t end = kMaxStatusMessageBytes;
    while (end > 0 && (static_cast<std::uint8_t>(text[end]) & 0xC0) == 0x80) {
      --end;  // not inside of a character
    }
    text.resize(end);
    text += " ...";
  }
  return percentEncoded(text);
}

bool isGrpcContentType(std::string_view contentType) {
  constexpr std::string_view kType = "application/grpc";
  if (!base::startsWith(contentType, kType)) {
    return false;
  }
  const std::string_view rest = contentType.substr(kType.size());
  return rest.empty() || rest[0] == '+' || rest[0] == ';';
}

}  // namespace steptape::detail::server
