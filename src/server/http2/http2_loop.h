// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "base/file_descriptor.h"
#include "server/http2/http2_connection.h"
#include "server/http2/http2_server.h"

namespace steptape::detail::server {

/// The connections of Http2Server::run(), and what the I/O thread does with them.
///
/// @threads Used by the I/O thread only.
class Http2Loop {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// @throws Error(kIoError) without descriptors.
  Http2Loop(Http2Server* server, Http2Handler* handler, bool endsWithStdin);

  /// Serves until the server stops.
  void run();

 private:
  struct Watched {
    Watched(base::FileDescriptor socket, std::uint64_t id, Http2Loop* loop);

    Http2Connection connection;
    std::uint32_t events;  ///< For which the loop waits.
  };
  using Connections = std::unordered_map<std::uint64_t, Watched>;

  void handle(std::uint64_t key, std::uint32_t events);
  void watch(int descriptor, std::uint64_t key);
  void watchStdin();
  void readStdin();
  void handleWoken();
  void wake(Connections::iterator found, std::int32_t stream);
  void handleConnection(std::uint64_t id, std::uint32_t events);
  /// Sends, and waits for what the connection needs next; destroys it if it has ended.
  void advance(Connections::iterator connection);
  void accept(int listener);
  void setAccepting(bool isAccepting);
  /// Stops accepting until a connection is closed.
  void pauseAccepting();
  void resumeAcceptingIfPossible();
  bool areClientsWaiting() const;
  /// Ends connections that never began to speak HTTP/2, or did not end when asked to.
  void endOverdueConnections();
  /// Asks the client that has been idle for longest to make room for others.
  void makeRoom();
  int millisecondsToWait() const;

  Http2Server* const server_;
  Http2Handler* const handler_;
  const base::FileDescriptor epoll_;
  const std::size_t maxConnections_;
  Http2BodyMemory memory_;
  Http2Buffers buffers_;
  Connections connections_;
  std::uint64_t nextId_;
  Time now_;
  bool isAccepting_ = false;
  std::size_t connectionsAtPause_ = 0;
  /// When to accept again even so: a descriptor of something else may be free.
  Time pauseEnd_{};
  bool isStopping_ = false;
};

}  // namespace steptape::detail::server
