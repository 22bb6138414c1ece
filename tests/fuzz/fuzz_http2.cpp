// SPDX-License-Identifier: Apache-2.0
// Fuzzes the bytes that a client sends on a connection: HTTP/2's frames, and gRPC's message in
// them.
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "fuzz/fuzz_input.h"
#include "server/grpc/grpc_wire.h"
#include "server/http2/http2_session.h"

namespace steptape {
namespace {

namespace server = detail::server;

constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
constexpr std::size_t kAtOnce = 256 << 10;

int exchanges = 0;

/// Answers with its request, in pieces of the size of the path, after it was woken once.
class EchoExchange : public server::Http2Exchange {
 public:
  explicit EchoExchange(server::Http2Request request) : request_(std::move(request)) {
    ++exchanges;
  }
  EchoExchange(const EchoExchange&) = delete;
  EchoExchange& operator=(const EchoExchange&) = delete;
  ~EchoExchange() override { --exchanges; }

  bool head(server::Http2Head* head) override {
    if (request_.path.size() % 2 == 1 && !isWoken_) {
      isWoken_ = true;
      return false;
    }
    std::string_view message;
    status_ = server::messageOf(request_.body, &message);
    *head = {{{":status", "200"}}, request_.isTooLarge || !status_.ok()};
    if (head->isWhole) {
      head->fields.push_back({"grpc-message", server::statusMessageField(status_)});
    }
    return true;
  }
  server::Http2Read read(char* out, std::size_t size) override {
    if (sent_ == 0 && !isReady_) {
      isReady_ = true;
      return {};
    }
    const std::size_t count = std::min({size, request_.path.size(), request_.body.size() - sent_});
    std::copy_n(request_.body.data() + sent_, count, out);
    sent_ += count;
    return {count, sent_ == request_.body.size() || count == 0};
  }
  server::Http2Fields trailers() override { return {{"grpc-status", "0"}}; }

 private:
  const server::Http2Request request_;
  server::CallStatus status_;
  std::size_t sent_ = 0;
  bool isWoken_ = false;
  bool isReady_ = false;
};

class EchoHandler : public server::Http2Handler {
 public:
  std::unique_ptr<server::Http2Exchange> start(const server::Http2StreamId& id,
                                               server::Http2Request request) override {
    lastStream = std::max(lastStream, id.stream);
    require(request.body.size() <= server::kMaxRequestBytes, "a body is no larger than allowed");
    return std::make_unique<EchoExchange>(std::move(request));
  }

  std::int32_t lastStream = 0;
};

/// Lets the session send what it can. @return false if the connection ends.
bool send(server::Http2Session* session) {
  std::string out;
  const bool isOpen = session->fill(&out, kAtOnce);
  require(out.size() <= 2 * kAtOnce, "no more is sent at a time than asked for");
  return isOpen && !session->hasEnded();
}

void tryConnection(std::string_view bytes, std::size_t chunk) {
  EchoHandler handler;
  server::Http2BodyMemory memory;
  {
    server::Http2Session session(1, &handler, &memory);
    bool isOpen = true;
    const server::Http2Session::Time now{std::chrono::hours(1)};
    while (isOpen && !bytes.empty()) {
      isOpen = session.receive(bytes.substr(0, chunk), now) && send(&session);
      bytes.remove_prefix(std::min(chunk, bytes.size()));
      for (std::int32_t stream = 1; isOpen && stream <= std::min(handler.lastStream, 200);
           stream += 2) {
        session.wake(stream);
      }
      isOpen = isOpen && send(&session);
    }
    require(exchanges <= 100, "a client has no more streams than allowed");
    session.sendGoaway();
    static_cast<void>(send(&session));
  }
  require(exchanges == 0, "each exchange ends with its connection");
  require(memory.used == 0, "memory of bodies is given back");
}

}  // namespace
}  // namespace steptape

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  steptape::FuzzInput input(data, size);
  const std::uint8_t form = input.byte();
  // Most clients begin right.
  std::string bytes = form % 4 == 0 ? "" : std::string(steptape::kPreface);
  bytes += input.rest();
  steptape::tryConnection(bytes, form / 4 == 0 ? bytes.size() + 1 : form / 4);
  return 0;
}
