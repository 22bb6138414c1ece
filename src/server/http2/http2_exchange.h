// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace steptape::detail::server {

/// A field of a header block. The name is in lower case; those of HTTP/2 itself begin with ':'.
struct Http2Field {
  std::string name;
  std::string value;
};
using Http2Fields = std::vector<Http2Field>;

/// The request of one stream.
struct Http2Request {
  std::string method;
  std::string path;
  std::string contentType;
  std::string body;
  /// The body exceeds a limit; `body` is empty, and the client may not have sent all of it.
  bool isTooLarge = false;
};

/// The stream of one exchange. No two streams of a server have the same in its lifetime.
struct Http2StreamId {
  std::uint64_t connection = 0;
  std::int32_t stream = 0;
};

/// The first header block of an answer.
struct Http2Head {
  Http2Fields fields;   ///< ":status" first.
  bool isWhole = true;  ///< Neither a body nor trailers follow.
};

/// How much of a body is there.
struct Http2Read {
  std::size_t size = 0;  ///< Bytes copied.
  bool isEnd = false;    ///< Only trailers follow. If false and `size` is 0, bytes come later.
};

/// An answer in the making. Its destructor is called when the stream is closed: after the last
/// byte, when the client cancels, or with the connection.
///
/// @threads Called by the I/O thread only. No call may block. A call may throw std::bad_alloc,
///          which ends the stream.
class Http2Exchange {
 public:
  virtual ~Http2Exchange() = default;

  /// Sets `head` if the first header block is known. Called until it is, first at once and then
  /// each time that the exchange's stream is woken.
  /// @return whether it is known.
  virtual bool head(Http2Head* head) = 0;

  /// Copies the next bytes of the body, at most `size`. After an answer without bytes, called when
  /// the stream is woken.
  virtual Http2Read read(char* out, std::size_t size) = 0;

  /// Returns the fields after the body.
  virtual Http2Fields trailers() = 0;
};

/// Answers requests.
class Http2Handler {
 public:
  virtual ~Http2Handler() = default;

  /// Called by the I/O thread with each request that is complete, or too large.
  virtual std::unique_ptr<Http2Exchange> start(const Http2StreamId& id, Http2Request request) = 0;
};

}  // namespace steptape::detail::server
