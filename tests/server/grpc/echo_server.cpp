// SPDX-License-Identifier: Apache-2.0
// Serves /test.Echo/METHOD until the end of its standard input, for clients of other libraries.
// Prints its port. Requests and answers are bytes without a message format.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "steptape/base/status.h"

#include "server/grpc/grpc_server.h"

namespace steptape::detail::server {
namespace {

constexpr std::size_t kChunkBytes = 8 << 20;

/// Answers with one message.
class OneMessage : public Answer {
 public:
  explicit OneMessage(std::string message) : message_(std::move(message)) {}

  bool next(Message* message, CallStatus* /*status*/) override {
    if (isDone_) {
      return false;
    }
    isDone_ = true;
    message->append(message_);
    return true;
  }

 private:
  std::string message_;
  bool isDone_ = false;
};

/// Answers with so many bytes, in chunks; then ends with a status.
class Blob : public Answer {
 public:
  Blob(std::size_t size, CallStatus end) : left_(size), end_(std::move(end)) { ++alive; }
  Blob(const Blob&) = delete;
  Blob& operator=(const Blob&) = delete;
  ~Blob() override { --alive; }

  static inline std::atomic<int> alive{0};

  bool next(Message* message, CallStatus* status) override {
    if (left_ == 0) {
      *status = end_;
      return false;
    }
    const std::size_t size = std::min(left_, kChunkBytes);
    message->append(std::string(size, 'x'));
    left_ -= size;
    return true;
  }

 private:
  std::size_t left_;
  CallStatus end_;
};

class EchoService : public Service {
 public:
  CallStatus call(std::string_view method, std::string_view request,
                  std::unique_ptr<Answer>* answer) override {
    const std::string text(request);
    if (method == "/test.Echo/Echo") {
      *answer = std::make_unique<OneMessage>(text);
      return {};
    }
    if (method == "/test.Echo/Bytes") {  // that many in one message
      *answer = std::make_unique<OneMessage>(std::string(std::stoul(text), 'x'));
      return {};
    }
    if (method == "/test.Echo/Blob") {  // that many in a stream
      *answer = std::make_unique<Blob>(std::stoul(text), CallStatus{});
      return {};
    }
    if (method == "/test.Echo/BrokenBlob") {
      *answer = std::make_unique<Blob>(std::stoul(text),
                                       CallStatus{StatusCode::kInternal, "broken on the way"});
      return {};
    }
    if (method == "/test.Echo/Alive") {  // answers of the two above
      *answer = std::make_unique<OneMessage>(std::to_string(Blob::alive));
      return {};
    }
    if (method == "/test.Echo/Fail") {
      return {StatusCode::kNotFound, text};
    }
    if (method == "/test.Echo/Throw") {
      throw std::runtime_error(text);
    }
    if (method == "/test.Echo/NoMemory") {
      throw std::bad_alloc();
    }
    return {StatusCode::kUnimplemented, "unknown method " + std::string(method)};
  }
};

}  // namespace
}  // namespace steptape::detail::server

int main(int argc, char** argv) {
  namespace server = steptape::detail::server;
  try {
    server::GrpcServerOptions options;
    options.host = argc > 1 ? argv[1] : "localhost";
    options.port = static_cast<std::uint16_t>(argc > 2 ? std::atoi(argv[2]) : 0);
    options.endsWithStdin = true;
    server::GrpcServer grpc(options);
    std::printf("%d\n", grpc.port());
    std::fflush(stdout);
    server::EchoService service;
    grpc.run(&service);
  } catch (const steptape::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
