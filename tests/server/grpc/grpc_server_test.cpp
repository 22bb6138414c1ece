// SPDX-License-Identifier: Apache-2.0
#include "server/grpc/grpc_server.h"

#include <csignal>
#include <thread>

#include "steptape/base/status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::detail::server {
namespace {

using ::testing::HasSubstr;

class NoService : public Service {
 public:
  CallStatus call(std::string_view /*method*/, std::string_view /*request*/,
                  std::unique_ptr<Answer>* /*answer*/) override {
    return {StatusCode::kUnimplemented, ""};
  }
};

TEST(GrpcServer, NamesHostPortAndReasonIfItCannotListen) {
  const GrpcServer first{GrpcServerOptions{}};
  try {
    GrpcServerOptions options;
    options.port = first.port();
    const GrpcServer second(options);
    FAIL() << "two servers listen at one port";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kIoError);
    EXPECT_THAT(error.what(), HasSubstr("\"localhost\", port " + std::to_string(first.port())));
    EXPECT_THAT(error.what(), HasSubstr("got Address already in use"));
  }
}

TEST(GrpcServer, EndsAtOnceIfItWasStoppedBefore) {
  GrpcServer server{GrpcServerOptions{}};
  server.stop();
  server.stop();
  NoService service;
  server.run(&service);
  server.run(&service);
}

TEST(GrpcServer, EndsWhenAnotherThreadStopsIt) {
  GrpcServer server{GrpcServerOptions{}};
  NoService service;
  std::thread running([&] { server.run(&service); });
  server.stop();
  running.join();
}

GrpcServer* stoppedBySignal = nullptr;

TEST(GrpcServer, EndsWhenASignalHandlerStopsIt) {
  GrpcServer server{GrpcServerOptions{}};
  stoppedBySignal = &server;
  const auto before = std::signal(SIGUSR1, [](int) { stoppedBySignal->stop(); });
  NoService service;
  std::thread running([&] { server.run(&service); });
  std::raise(SIGUSR1);
  running.join();
  std::signal(SIGUSR1, before);
}

}  // namespace
}  // namespace steptape::detail::server
