// SPDX-License-Identifier: Apache-2.0
#include "server/http2/http2_connection.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <sys/socket.h>
#include <utility>

#include "server/http2/http2_client.h"

#include <gtest/gtest.h>

namespace steptape::detail::server {
namespace {

/// Larger than what a socket takes without a reader.
constexpr std::size_t kLargeBody = 32 << 20;

class LargeExchange : public Http2Exchange {
 public:
  bool head(Http2Head* head) override {
    *head = {{{":status", "200"}}, false};
    return true;
  }
  Http2Read read(char* out, std::size_t size) override {
    const std::size_t count = std::min(size, left_);
    std::memset(out, 'x', count);
    left_ -= count;
    return {count, left_ == 0};
  }
  Http2Fields trailers() override { return {{"grpc-status", "0"}}; }

 private:
  std::size_t left_ = kLargeBody;
};

class LargeHandler : public Http2Handler {
 public:
  std::unique_ptr<Http2Exchange> start(const Http2StreamId& /*id*/,
                                       Http2Request /*request*/) override {
    return std::make_unique<LargeExchange>();
  }
};

class Http2ConnectionTest : public ::testing::Test {
 protected:
  Http2ConnectionTest() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0);
    peer_ = base::FileDescriptor(ends[0]);
    connection_ = std::make_unique<Http2Connection>(base::FileDescriptor(ends[1]), 1, &handler_,
                                                    &memory_, now_);
  }

  /// Gives the server what the client has to send. @return whether the connection is open.
  bool sendToServer() {
    const std::string bytes = client_.take();
    EXPECT_EQ(::send(peer_.number(), bytes.data(), bytes.size(), 0),
              static_cast<ssize_t>(bytes.size()));
    bool isOpen = true;
    for (std::size_t taken = 0; isOpen && taken < bytes.size(); taken += 64 << 10) {
      isOpen = connection_->receive(&buffers_, now_) && connection_->send(&buffers_, now_);
    }
    return isOpen;
  }

  /// Lets the client read what was sent, and the server continue, until all is read.
  void readAll() {
    std::string bytes(1 << 20, '\0');
    for (ssize_t size = 0; (size = ::recv(peer_.number(), bytes.data(), bytes.size(), 0)) > 0;) {
      ASSERT_TRUE(client_.receive({bytes.data(), static_cast<std::size_t>(size)}));
      ASSERT_TRUE(connection_->send(&buffers_, now_));
    }
  }

  const Http2Connection::Time now_{std::chrono::hours(1)};
  LargeHandler handler_;
  Http2BodyMemory memory_;
  Http2Buffers buffers_;
  base::FileDescriptor peer_;
  std::unique_ptr<Http2Connection> connection_;
  Http2Client client_{1 << 30};
};

TEST_F(Http2ConnectionTest, WaitsForAClientThatDoesNotRead) {
  const std::int32_t stream = client_.post("/path", "");
  ASSERT_TRUE(sendToServer());
  EXPECT_TRUE(connection_->wantsToSend());
  EXPECT_TRUE(connection_->wantsToReceive());
  readAll();
  EXPECT_FALSE(connection_->wantsToSend());
  EXPECT_EQ(client_.answer(stream).body.size(), kLargeBody);
  EXPECT_TRUE(client_.answer(stream).isClosed);
}

TEST_F(Http2ConnectionTest, StopsReceivingFromAClientThatAsksAndDoesNotRead) {
  client_.post("/path", "");
  ASSERT_TRUE(sendToServer());
  // The socket took a part of what waits; now as much waits as may.
  ASSERT_TRUE(connection_->send(&buffers_, now_));
  for (int i = 0; i < 600; ++i) {
    client_.ping();
  }
  ASSERT_TRUE(sendToServer());
  EXPECT_FALSE(connection_->wantsToReceive());
  readAll();
  EXPECT_TRUE(connection_->wantsToReceive());
}

TEST_F(Http2ConnectionTest, HearsACancellationWhileTheClientDoesNotRead) {
  const std::int32_t stream = client_.post("/path", "");
  ASSERT_TRUE(sendToServer());
  EXPECT_EQ(connection_->session().openAnswers(), 1U);
  client_.cancel(stream);
  ASSERT_TRUE(sendToServer());
  EXPECT_EQ(connection_->session().openAnswers(), 0U);
}

TEST_F(Http2ConnectionTest, EndsWithItsClient) {
  client_.post("/path", "");
  ASSERT_TRUE(sendToServer());
  peer_ = base::FileDescriptor();
  EXPECT_FALSE(connection_->send(&buffers_, now_)) << "and SIGPIPE ends no process";
  EXPECT_FALSE(connection_->receive(&buffers_, now_));
}

TEST_F(Http2ConnectionTest, EndsAfterItsLastAnswerWhenAskedTo) {
  const std::int32_t stream = client_.post("/path", "");
  ASSERT_TRUE(sendToServer());
  connection_->beginEnd(now_);
  std::string bytes(1 << 20, '\0');
  bool isOpen = true;
  for (ssize_t size = 0; (size = ::recv(peer_.number(), bytes.data(), bytes.size(), 0)) > 0;) {
    ASSERT_TRUE(client_.receive({bytes.data(), static_cast<std::size_t>(size)}));
    isOpen = isOpen && connection_->send(&buffers_, now_);
  }
  EXPECT_FALSE(isOpen);
  EXPECT_TRUE(client_.hasGoaway());
  EXPECT_EQ(client_.answer(stream).body.size(), kLargeBody);
}

}  // namespace
}  // namespace steptape::detail::server
