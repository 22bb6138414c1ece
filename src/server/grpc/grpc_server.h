// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "server/grpc/service.h"
#include "server/http2/http2_server.h"

namespace steptape::detail::server {

struct GrpcServerOptions {
  /// "localhost", an address or a name of this machine.
  std::string host = "localhost";
  std::uint16_t port = 0;      ///< 0: one that is free.
  int workers = 2;             ///< Threads that call the service.
  bool endsWithStdin = false;  ///< run() returns at the end of the standard input.
};

/// A gRPC server without TLS and compression, for unary and server-streaming calls.
///
/// Requests have at most 4 MiB, messages of answers at most 256 MiB. See Http2Server for clients.
///
/// @threads As the calls say.
/// @cost    The constructor makes sockets, and no thread.
class GrpcServer {
 public:
  /// Binds and listens; localhost: on 127.0.0.1 and, where there is one, ::1, at one port. Clients
  /// can connect from now on, and wait for run().
  ///
  /// @throws Error(kIoError) naming host, port and reason.
  explicit GrpcServer(GrpcServerOptions options);

  std::uint16_t port() const { return http2_.port(); }

  /// Serves until stop(), or the end of stdin if asked for. Then ends the connections, and waits
  /// for the calls of the service that are in progress.
  ///
  /// @param service Outlives the call.
  /// @throws Error(kIoError) if the operating system gives no descriptor or thread.
  /// @threads One at a time.
  void run(Service* service);

  /// Makes run() return, also if it is called later.
  /// @threads Async-signal-safe and thread-safe.
  void stop() noexcept { http2_.stop(); }

 private:
  const GrpcServerOptions options_;
  Http2Server http2_;
};

}  // namespace steptape::detail::server
