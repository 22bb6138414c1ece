// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "server/grpc/call_queue.h"
#include "server/http2/http2_exchange.h"

namespace steptape::detail::server {

/// Makes a gRPC call of each request, or rejects it.
///
/// @threads Used by the I/O thread only.
class GrpcHandler : public Http2Handler {
 public:
  /// @param queue Outlives the handler and its exchanges.
  explicit GrpcHandler(CallQueue* queue) : queue_(queue) {}

  std::unique_ptr<Http2Exchange> start(const Http2StreamId& id, Http2Request request) override;

 private:
  CallQueue* const queue_;
};

}  // namespace steptape::detail::server
