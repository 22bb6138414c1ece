// SPDX-License-Identifier: Apache-2.0
#include "server/grpc/grpc_wire.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::detail::server {
namespace {

using ::testing::EndsWith;

std::string framed(const std::string& message) {
  return messagePrefix(message.size()) + message;
}

TEST(MessagePrefix, IsTheSizeBigEndian) {
  EXPECT_EQ(framed(""), std::string("\0\0\0\0\0", 5));
  EXPECT_EQ(framed("abc"), std::string("\0\0\0\0\3abc", 8));
  EXPECT_EQ(framed(std::string(0x010203, 'x')).substr(0, 6), std::string("\0\0\1\2\3x", 6));
}

TEST(MessageOf, FindsTheMessage) {
  std::string_view message;
  const std::string body = framed("some bytes");
  EXPECT_TRUE(messageOf(body, &message).ok());
  EXPECT_EQ(message, "some bytes");
  EXPECT_TRUE(messageOf(framed(""), &message).ok());
  EXPECT_EQ(message, "");
}

TEST(MessageOf, RejectsABodyThatIsCutAnywhere) {
  const std::string body = framed("some bytes");
  for (std::size_t size = 0; size < body.size(); ++size) {
    std::string_view message;
    EXPECT_EQ(messageOf(std::string_view(body).substr(0, size), &message).code,
              StatusCode::kInvalidArgument)
        << size;
  }
}

TEST(MessageOf, NamesWhatItGot) {
  std::string_view message;
  EXPECT_EQ(messageOf("abc", &message).message,
            "request: got 3 bytes; expected a message and the 5 bytes before it");
  EXPECT_EQ(messageOf(framed("abc") + framed("d"), &message).message,
            "request: got 9 bytes; expected one message of 3 bytes");
  EXPECT_EQ(messageOf(std::string("\0\xFF\xFF\xFF\xFF", 5), &message).message,
            "request: got 0 bytes; expected one message of 4294967295 bytes");
}

TEST(MessageOf, RejectsACompressedMessage) {
  std::string body = framed("abc");
  body[0] = 1;
  std::string_view message;
  const CallStatus status = messageOf(body, &message);
  EXPECT_EQ(status.code, StatusCode::kUnimplemented);
  EXPECT_EQ(status.message,
            "request: got a compressed message; expected one that is not (grpc-encoding: "
            "identity)");
}

TEST(PercentEncoded, KeepsPrintableAscii) {
  EXPECT_EQ(percentEncoded("no run \"a/b\"; ~!"), "no run \"a/b\"; ~!");
}

TEST(PercentEncoded, EncodesTheRest) {
  EXPECT_EQ(percentEncoded("100 %"), "100 %25");
  EXPECT_EQ(percentEncoded("größer\n"), "gr%C3%B6%C3%9Fer%0A");
  EXPECT_EQ(percentEncoded(std::string("\0\x1F\x7F\xFF", 4)), "%00%1F%7F%FF");
}

TEST(StatusMessageField, IsValidUtf8) {
  EXPECT_EQ(statusMessageField({StatusCode::kNotFound, "tag \xFF"}), "tag %EF%BF%BD");
}

TEST(StatusMessageField, IsShortEnoughForAHeaderBlock) {
  // An odd number of bytes before characters of two bytes, so that the limit is inside of one.
  std::string text = "x";
  for (int i = 0; i < 5'000; ++i) {
    text += "ü";
  }
  const std::string field = statusMessageField({StatusCode::kNotFound, text});
  EXPECT_LE(field.size(), 6'100U);
  EXPECT_THAT(field, EndsWith("%C3%BC ..."));
}

TEST(IsGrpcContentType, AcceptsAnyEncodingOfMessages) {
  EXPECT_TRUE(isGrpcContentType("application/grpc"));
  EXPECT_TRUE(isGrpcContentType("application/grpc+proto"));
  EXPECT_TRUE(isGrpcContentType("application/grpc;charset=utf-8"));
  EXPECT_FALSE(isGrpcContentType("application/grpc-web"));
  EXPECT_FALSE(isGrpcContentType("application/json"));
  EXPECT_FALSE(isGrpcContentType(""));
}

}  // namespace
}  // namespace steptape::detail::server
