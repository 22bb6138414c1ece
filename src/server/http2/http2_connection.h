// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/file_descriptor.h"
#include "server/http2/http2_session.h"

namespace steptape::detail::server {

/// Memory that the connections of a server use one after the other.
struct Http2Buffers {
  std::string received = std::string(64 << 10, '\0');
  std::string sending;
};

/// A client's socket, and the session of its bytes.
///
/// @threads Used by the I/O thread only.
class Http2Connection {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// @param socket Non-blocking.
  /// @throws std::bad_alloc.
  Http2Connection(base::FileDescriptor socket, std::uint64_t id, Http2Handler* handler,
                  Http2BodyMemory* memory, Time now)
      : socket_(std::move(socket)), session_(id, handler, memory), begun_(now), progressed_(now) {}

  /// Takes what the client has sent, at most the size of `buffers.received`, and answers.
  /// @return false: destroy the connection.
  bool receive(Http2Buffers* buffers, Time now);
  /// Sends until the client's buffers are full, nothing is left, or others should have a turn.
  /// @return false: destroy the connection.
  bool send(Http2Buffers* buffers, Time now);

  Http2Session& session() { return session_; }
  const Http2Session& session() const { return session_; }
  int descriptor() const { return socket_.number(); }

  /// What the I/O thread waits for.
  bool wantsToSend() const { return wantsToSend_; }
  /// False while the client sends frames without reading what they ask for.
  bool wantsToReceive() const;

  Time begun() const { return begun_; }
  /// When bytes last came or went.
  Time progressed() const { return progressed_; }

  /// Asks the client to end the connection after its last answer.
  void beginEnd(Time now) {
    session_.sendGoaway();
    endBegun_ = now;
    isEnding_ = true;
  }
  bool isEnding() const { return isEnding_; }
  Time endBegun() const { return endBegun_; }

 private:
  /// Sends the beginning of `bytes`. @return its size, or -1 if the connection is broken.
  std::ptrdiff_t sendBytes(std::string_view bytes);

  const base::FileDescriptor socket_;
  Http2Session session_;
  /// What the client's buffers had no place for.
  std::string unsent_;
  bool wantsToSend_ = true;
  bool isEnding_ = false;
  const Time begun_;
  Time progressed_;
  Time endBegun_{};
};

}  // namespace steptape::detail::server
