// SPDX-License-Identifier: Apache-2.0
//
// The commands' errors for a path that is neither a directory nor a regular file.
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "tools/tool_fixture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class PathKinds : public ToolFixture {
 protected:
  void SetUp() override {
    ToolFixture::SetUp();
    writeBytes("runs/events.out.tfevents.1", smallFile());
    // It has no writer, so a command that opens it would hang.
    ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
    const int server = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    ASSERT_LT(path("socket").size(), sizeof address.sun_path);
    path("socket").copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(::bind(server, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    ::close(server);
  }

  void expectRefused(const std::string& arguments, const std::string& message) const {
    const Outcome outcome = steptape(arguments);
    EXPECT_EQ(outcome.exitCode, 2) << arguments;
    EXPECT_EQ(outcome.out, "") << arguments;
    EXPECT_THAT(outcome.error, StartsWith(message + "\n")) << arguments;
  }

  const std::vector<std::pair<std::string, std::string>> strangers_{
      {"fifo", "a FIFO"}, {"socket", "a socket"}, {"/dev/null", "a character device"}};
};

TEST_F(PathKinds, AreNamedByEachCommandThatReadsRuns) {
  for (const auto& [path, kind] : strangers_) {
    const std::string message = ": cannot read " + path + ": got " + kind +
                                "; expected a directory or a regular event file";
    for (const char* command : {"inspect", "check", "export", "tail --once", "plot"}) {
      expectRefused(command + (" " + path), "PATH" + message);
      expectRefused(command + (" runs " + path), "PATH" + message);
    }
    expectRefused("diff " + path + " runs", "FIRST" + message);
    expectRefused("diff runs " + path, "SECOND" + message);
  }
}

TEST_F(PathKinds, AreNamedByEachCommandThatReadsTraces) {
  for (const auto& [path, kind] : strangers_) {
    const std::string message = ": cannot read " + path + ": got " + kind +
                                "; expected a directory or a regular trace file";
    expectRefused("profile " + path, "TRACE" + message);
    expectRefused("profile --compare " + path + " runs", "--compare" + message);
    expectRefused("merge-traces --output all.json " + path, "TRACE" + message);
  }
}

TEST_F(PathKinds, AreNamedByRepairLikeDirectories) {
  std::vector<std::pair<std::string, std::string>> all = strangers_;
  all.emplace_back("runs", "a directory");
  for (const auto& [path, kind] : all) {
    const std::string message =
        "FILE: cannot read " + path + ": got " + kind + "; expected a regular event file";
    expectRefused("repair " + path + " --in-place", message);
    expectRefused("repair " + path + " --output repaired", message);
  }
}

TEST_F(PathKinds, AreNamedIfADirectoryIsExpected) {
  expectRefused("man --output fifo",
                "--output: cannot write into fifo: got a FIFO; expected a directory");
  expectRefused("man --output runs/events.out.tfevents.1",
                "--output: cannot write into runs/events.out.tfevents.1: got a regular file; "
                "expected a directory");
}

TEST_F(PathKinds, AreNamedForOpenPipes) {
  EXPECT_THAT(run("sh -c 'cat runs/* | steptape inspect /dev/stdin'"),
              Exits(2, StartsWith("PATH: cannot read /dev/stdin: got a FIFO; expected ")));
}

TEST_F(PathKinds, AreThoseOfTheFileOfARedirection) {
  const Outcome outcome = run("sh -c 'steptape inspect /dev/stdin <runs/events.out.tfevents.1'");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
  EXPECT_THAT(outcome.out, HasSubstr("accuracy"));
}

TEST_F(PathKinds, AreNamedForEventFilesOfARun) {
  ASSERT_EQ(::mkfifo(path("runs/events.out.tfevents.2").c_str(), 0600), 0);
  const std::string message =
      "cannot read runs/events.out.tfevents.2: got a FIFO; expected a regular file";
  for (const char* command : {"inspect runs", "export runs", "tail --once runs", "plot runs"}) {
    const Outcome outcome = steptape(command);
    EXPECT_EQ(outcome.exitCode, 1) << command;
    EXPECT_THAT(outcome.error, HasSubstr(message)) << command;
  }
  EXPECT_THAT(steptape("check runs").out, HasSubstr(message));
}

}  // namespace
}  // namespace steptape
