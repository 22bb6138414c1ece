// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "server/http2/http2_exchange.h"

namespace steptape::detail::server {

/// The largest body of a request.
constexpr std::size_t kMaxRequestBytes = 4 << 20;
/// The largest header block of a request, as RFC 9113 counts it.
constexpr std::size_t kMaxHeaderBytes = 8 << 10;
/// The requests that a connection may have at a time.
constexpr std::uint32_t kMaxStreams = 100;

/// What the bodies of all requests of a server use, from their first byte until their streams are
/// closed. Past the limit, requests count as too large.
///
/// @threads Used by the I/O thread only.
struct Http2BodyMemory {
  static constexpr std::size_t kLimit = 64 << 20;
  std::size_t used = 0;
};

/// The server's side of one HTTP/2 connection (RFC 9113, with prior knowledge), without its socket:
/// bytes go in and come out.
///
/// Whatever the bytes, memory is bounded: by the limits above, by 1,000 queued acknowledgments, and
/// by the messages that exchanges hold.
///
/// @threads Used by the I/O thread only.
class Http2Session {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// @param connection The number for Http2StreamId.
  /// @param handler, memory Outlive the session.
  /// @throws std::bad_alloc.
  Http2Session(std::uint64_t connection, Http2Handler* handler, Http2BodyMemory* memory);
  Http2Session(const Http2Session&) = delete;
  Http2Session& operator=(const Http2Session&) = delete;
  ~Http2Session();

  /// Takes bytes from the client.
  /// @return false if they violate the protocol or flood the server: send what fill() gives, and
  ///         close the connection.
  bool receive(std::string_view bytes, Time now);

  /// Continues with the answer of a stream whose exchange has more. Does nothing if the stream is
  /// closed.
  void wake(std::int32_t stream);
  /// wake() for each stream.
  void wakeAll();

  /// Appends what the client may get until `out` holds `size` bytes or more; at most 64 KiB more.
  /// @return false if the session is broken: close the connection.
  bool fill(std::string* out, std::size_t size);

  /// Refuses further streams, which clients then open on another connection.
  void sendGoaway();

  /// Whether the connection has ended: nothing will be sent or received.
  bool hasEnded() const;
  /// Whether the client has begun with what HTTP/2 demands.
  bool isEstablished() const;
  /// The streams whose request is complete and whose answer is not.
  std::size_t openAnswers() const;
  /// The frames that wait for fill(), without those of bodies.
  std::size_t queuedFrames() const;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace steptape::detail::server
