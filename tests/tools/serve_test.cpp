// SPDX-License-Identifier: Apache-2.0
//
// The commands that serve: their arguments, what they say, and how they end. What they answer is
// tested in tests/server and tests/interop.
#include <arpa/inet.h>
#include <filesystem>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/tool_fixture.h"

namespace steptape {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

/// A port on which somebody listens already.
class TakenPort {
 public:
  TakenPort() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(socket_, generic, size), 0);
    EXPECT_EQ(::listen(socket_, 1), 0);
    EXPECT_EQ(::getsockname(socket_, generic, &size), 0);
    number_ = std::to_string(ntohs(address.sin_port));
  }
  TakenPort(const TakenPort&) = delete;
  TakenPort& operator=(const TakenPort&) = delete;
  ~TakenPort() { ::close(socket_); }

  const std::string& number() const { return number_; }

 private:
  int socket_;
  std::string number_;
};

class Serve : public ToolFixture {
 protected:
  void SetUp() override {
    ToolFixture::SetUp();
    writeBytes("runs/" + std::string(kFile), smallFile());
    writeBytes("more/" + std::string(kFile), smallFile());
  }
  /// Serves until it has said how to connect, and then stops it.
  Outcome serveABit(const std::string& arguments) const {
    // The file is removed first: that of an earlier call has said how to connect too.
    return run("sh -c 'rm -f said; steptape serve --port 0 " + arguments +
               " > said & "
               "until grep -qs grpc_data_provider said || ! kill -0 $!; do sleep 0.01; done; "
               "kill $!; wait $!; code=$?; cat said; exit $code'");
  }
  Outcome dataServer(const std::string& arguments) const {
    return run("steptape-data-server " + arguments + " < /dev/null");
  }
};

TEST_F(Serve, SaysWhatItServesAndHowToConnect) {
  const Outcome outcome = serveABit("runs");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
  EXPECT_THAT(outcome.out,
              MatchesRegex("serving runs\n"
                           "here: tensorboard --grpc_data_provider=localhost:[0-9]+\n"
                           "from another machine: ssh -N -L ([0-9]+):localhost:[0-9]+ .*\n"));
  EXPECT_EQ(outcome.error, "");
}

TEST_F(Serve, NamesTheRunsOfADirectory) {
  const Outcome outcome = serveABit("first=runs more second=missing=too");
  EXPECT_THAT(outcome.out, StartsWith("serving runs as first\nserving more\n"
                                      "serving missing=too as second\n"));
  EXPECT_THAT(outcome.error, HasSubstr("there is no missing=too yet; waiting"));
}

TEST_F(Serve, PrefersADirectoryOfTheWholeName) {
  writeBytes("lr=0.1/" + std::string(kFile), smallFile());
  EXPECT_THAT(serveABit("lr=0.1").out, StartsWith("serving lr=0.1\n"));
  EXPECT_THAT(serveABit("=runs").error, HasSubstr("there is no =runs yet"));
}

TEST_F(Serve, NeedsADirectory) {
  EXPECT_THAT(steptape("serve"), Exits(2, HasSubstr("directory is required")));
}

TEST_F(Serve, RejectsLimitsThatAreNone) {
  EXPECT_THAT(steptape("serve runs --samples-per-plugin scalars"),
              Exits(2, HasSubstr("steptape serve: samples-per-plugin: got \"scalars\"; expected "
                                 "PLUGIN=COUNT")));
  EXPECT_THAT(steptape("serve runs --samples-per-plugin scalars=many"),
              Exits(2, HasSubstr("got \"many\"; expected a number of points or \"all\"")));
}

TEST_F(Serve, RejectsPeriodsThatAreNone) {
  for (const char* period : {"0", "-1", "nan", "inf", "86401", "soon", "5s", "once"}) {
    EXPECT_THAT(steptape("serve runs --reload=" + std::string(period)),
                Exits(2, HasSubstr("reload: got \"" + std::string(period) +
                                   "\"; expected seconds, from above 0 to 86400")))
        << period;
  }
  for (const char* period : {"0.001", "1e-9", "0.5", "86400"}) {
    EXPECT_EQ(serveABit("runs --reload=" + std::string(period)).exitCode, 0) << period;
  }
}

TEST_F(Serve, RejectsAPortThatIsNone) {
  EXPECT_EQ(steptape("serve runs --port 65536").exitCode, 2);
  EXPECT_EQ(steptape("serve runs --port http").exitCode, 2);
}

TEST_F(Serve, EndsIfItsPortIsTaken) {
  const TakenPort taken;
  EXPECT_THAT(steptape("serve runs --port " + taken.number()),
              Exits(1, AllOf(HasSubstr(taken.number()), HasSubstr("in use"))));
  EXPECT_THAT(dataServer("--logdir runs --port " + taken.number() + " --error-file error"),
              Exits(9, HasSubstr("in use")));
  EXPECT_THAT(contentOf("error"), AllOf(HasSubstr(taken.number()), HasSubstr("in use")));
}

TEST_F(Serve, WritesThePortAndEndsWithItsInput) {
  EXPECT_THAT(dataServer("--logdir runs --port 0 --port-file port --die-after-stdin"),
              Exits(0, ""));
  EXPECT_THAT(contentOf("port"), MatchesRegex("[0-9]+\n"));
  EXPECT_FALSE(std::filesystem::exists(path("port.new")));
}

TEST_F(Serve, TakesTheFlagsOfTensorBoard) {
  EXPECT_THAT(
      dataServer("--logdir=missing --reload=once --samples-per-plugin=scalars=500,images=all "
                 "--port=0 --port-file=port --die-after-stdin --error-file=error "
                 "--no-checksum"),
      Exits(0, ""));
  EXPECT_FALSE(std::filesystem::exists(path("error")));
}

TEST_F(Serve, EndsIfThePortFileCannotBeWritten) {
  EXPECT_THAT(dataServer("--logdir runs --port 0 --port-file missing/port --error-file error"),
              Exits(1, HasSubstr("cannot write the port file missing/port")));
  EXPECT_THAT(contentOf("error"), StartsWith("cannot write the port file missing/port: "));
}

TEST_F(Serve, RefusesALogDirectoryElsewhere) {
  EXPECT_THAT(dataServer("--logdir gs://bucket/runs --error-file error"),
              Exits(8, HasSubstr("got the log directory gs://bucket/runs; expected a path on this "
                                 "machine")));
  EXPECT_THAT(contentOf("error"), StartsWith("got the log directory gs://bucket/runs"));
}

TEST_F(Serve, RefusesWrongFlags) {
  EXPECT_THAT(dataServer("--port 0"), Exits(2, HasSubstr("--logdir is required")));
  EXPECT_THAT(dataServer("--logdir runs --reload never --error-file error"),
              Exits(2, HasSubstr("reload: got \"never\"")));
  EXPECT_THAT(contentOf("error"), StartsWith("reload: got \"never\""));
}

}  // namespace
}  // namespace steptape
