// SPDX-License-Identifier: Apache-2.0
#include "server/grpc/grpc_server.h"

#include <algorithm>
#include <utility>

#include "server/grpc/call_queue.h"
#include "server/grpc/grpc_exchange.h"

namespace steptape::detail::server {

GrpcServer::GrpcServer(GrpcServerOptions options)
    : options_(std::move(options)), http2_(options_.host, options_.port) {}

void GrpcServer::run(Service* service) {
  CallQueue queue(std::max(options_.workers, 1), service,
                  [this](const Http2StreamId& id) { http2_.wake(id); });
  GrpcHandler handler(&queue);
  http2_.run(&handler, options_.endsWithStdin);
}

}  // namespace steptape::detail::server
