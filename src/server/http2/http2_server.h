// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "base/mutex.h"
#include "server/http2/http2_exchange.h"
#include "server/http2/listeners.h"

namespace steptape::detail::server {

/// A server for HTTP/2 with prior knowledge, without TLS. One thread does all input and output.
///
/// At most 128 clients, or as many as half of the descriptors that the process may have, are
/// connected at a time. More wait until one leaves; a connection that was idle for 2 s makes room.
/// A client that stops reading costs 256 KiB and what its exchanges hold, and delays no other.
///
/// @threads As the calls say.
class Http2Server {
 public:
  /// Listens, so that clients may connect; run() answers them.
  ///
  /// @param host See listenAt().
  /// @throws Error(kIoError) naming host, port and the reason.
  Http2Server(const std::string& host, std::uint16_t port);

  std::uint16_t port() const { return listeners_.port; }

  /// Serves until stop(), then ends all connections: exchanges are destroyed before it returns.
  ///
  /// @param endsWithStdin Also return at the end of the standard input.
  /// @throws Error(kIoError) if the operating system gives no descriptors, std::bad_alloc.
  /// @threads One at a time, which is the I/O thread.
  void run(Http2Handler* handler, bool endsWithStdin);

  /// Makes run() return, also if it is called later.
  /// @threads Thread-safe, and safe in a signal handler.
  void stop() noexcept;

  /// Continues with an exchange that had nothing to give before. Nothing happens if it is gone.
  /// @threads Thread-safe.
  void wake(const Http2StreamId& id) noexcept;

 private:
  friend class Http2Loop;
  struct Woken {
    std::vector<Http2StreamId> streams;
    bool isAll = false;  ///< There was no memory to note them.
  };
  Woken takeWoken();

  Listeners listeners_;
  const base::FileDescriptor stopping_;
  const base::FileDescriptor waking_;
  base::Mutex mutex_;
  Woken woken_ STEPTAPE_GUARDED_BY(mutex_);
};

}  // namespace steptape::detail::server
