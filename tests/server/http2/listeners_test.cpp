// SPDX-License-Identifier: Apache-2.0
#include "server/http2/listeners.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include "steptape/base/status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::detail::server {
namespace {

using ::testing::HasSubstr;

/// Returns the message of the failure.
std::string failureOf(const std::string& host, std::uint16_t port) {
  try {
    listenAt(host, port);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kIoError);
    return error.what();
  }
  return "none";
}

bool canConnect(int family, std::uint16_t port) {
  const base::FileDescriptor socket(::socket(family, SOCK_STREAM, 0));
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  v6.sin6_addr = in6addr_loopback;
  return family == AF_INET
             ? ::connect(socket.number(), reinterpret_cast<sockaddr*>(&v4), sizeof v4) == 0
             : ::connect(socket.number(), reinterpret_cast<sockaddr*>(&v6), sizeof v6) == 0;
}

TEST(ListenAt, ServesBothLoopbacksAtOnePort) {
  const Listeners listeners = listenAt("localhost", 0);
  EXPECT_GT(listeners.port, 0);
  EXPECT_TRUE(canConnect(AF_INET, listeners.port));
  // A machine may have no IPv6.
  EXPECT_EQ(canConnect(AF_INET6, listeners.port), listeners.sockets.size() == 2);
}

TEST(ListenAt, ServesANumericAddressOnly) {
  const Listeners listeners = listenAt("127.0.0.1", 0);
  EXPECT_EQ(listeners.sockets.size(), 1U);
  EXPECT_TRUE(canConnect(AF_INET, listeners.port));
  EXPECT_FALSE(canConnect(AF_INET6, listeners.port));
}

TEST(ListenAt, NamesAPortThatIsInUse) {
  const Listeners listeners = listenAt("localhost", 0);
  const std::string port = std::to_string(listeners.port);
  EXPECT_EQ(failureOf("localhost", listeners.port),
            "listen at host \"localhost\", port " + port +
                ": got Address already in use; expected a port that no other program uses");
}

TEST(ListenAt, NamesAnAddressOfAnotherMachine) {
  EXPECT_THAT(failureOf("192.0.2.1", 0), HasSubstr("host \"192.0.2.1\", port 0: got "));
  EXPECT_THAT(failureOf("192.0.2.1", 0), HasSubstr("; expected an address of this machine"));
}

TEST(ListenAt, TakesAPortAgainAtOnce) {
  std::uint16_t port = 0;
  for (int i = 0; i < 3; ++i) {
    const Listeners listeners = listenAt("localhost", port);
    port = listeners.port;
    EXPECT_TRUE(canConnect(AF_INET, port));
  }
}

}  // namespace
}  // namespace steptape::detail::server
