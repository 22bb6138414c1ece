// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/http2/http2_exchange.h"

struct nghttp2_session;

namespace steptape::detail::server {

/// The client's side of a connection, by nghttp2, without its socket.
class Http2Client {
 public:
  struct Answer {
    std::vector<std::string> fields;  ///< "name: value", those of the trailers last.
    std::string body;
    bool isClosed = false;
    std::uint32_t errorCode = 0;  ///< Of the closed stream.
  };

  /// @param window What the server may send of each stream before the client asks for more.
  explicit Http2Client(std::int32_t window = 65'535);
  ~Http2Client();

  /// Requests a path by POST. @return the stream.
  std::int32_t post(const std::string& path, const std::string& body,
                    const Http2Fields& further = {});
  /// Gives up a stream.
  void cancel(std::int32_t stream);
  /// Lets the server send so much more.
  void consume(std::int32_t stream, std::size_t size);
  /// Adds what the client has to send to the bytes that take() returns.
  void ping();

  /// Returns the bytes for the server.
  std::string take();
  /// Takes bytes of the server. @return false if they violate the protocol.
  bool receive(std::string_view bytes);

  const Answer& answer(std::int32_t stream) { return answers_[stream]; }
  bool hasGoaway() const { return hasGoaway_; }

 private:
  struct Callbacks;

  nghttp2_session* session_ = nullptr;
  std::map<std::int32_t, Answer> answers_;
  std::map<std::int32_t, std::string> unsent_;
  bool hasGoaway_ = false;
};

}  // namespace steptape::detail::server
