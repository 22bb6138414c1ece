// SPDX-License-Identifier: Apache-2.0
// The output of commands if it cannot be written, and text that must not be printed.
#include <string>
#include <vector>

#include "tools/tool_fixture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Runs commands through a shell, for its redirections.
class StandardStreams : public ToolFixture {
 protected:
  Outcome shell(const std::string& command) const { return run("sh -c '" + command + "'"); }

  void SetUp() override {
    ToolFixture::SetUp();
    writeBytes("runs/demo/events.out.tfevents.1", smallFile());
  }
};

// Each prints less than a buffer holds, so that nothing is written before the end.
const std::vector<std::string> kCommands{
    "--help", "--version",  "inspect runs", "inspect runs --json", "export runs",
    "man",    "check runs", "plot runs",    "tail runs --once",    "completion bash"};

TEST_F(StandardStreams, ReportAFullDisk) {
  for (const std::string& command : kCommands) {
    SCOPED_TRACE(command);
    EXPECT_THAT(shell("steptape " + command + " >/dev/full"),
                Exits(1, HasSubstr("steptape: cannot write the output")));
  }
  EXPECT_EQ(shell("steptape inspect runs >/dev/full").error,
            "steptape: cannot write the output: No space left on device\n");
}

TEST_F(StandardStreams, ReportAClosedOutput) {
  for (const std::string& command : kCommands) {
    SCOPED_TRACE(command);
    EXPECT_THAT(shell("steptape " + command + " >&-"),
                Exits(1, HasSubstr("steptape: cannot write the output")));
  }
}

TEST_F(StandardStreams, KeepOutputOutOfOtherFiles) {
  // It would be opened in place of a closed stream, and messages would be written into it.
  writeBytes("runs/broken/events.out.tfevents.1", damagedFile());
  EXPECT_EQ(shell("steptape export runs --output with").exitCode, 1);
  EXPECT_EQ(shell("steptape export runs --output without <&- >&- 2>&-").exitCode, 1);
  EXPECT_EQ(contentOf("without"), contentOf("with"));
}

TEST_F(StandardStreams, MayHaveAClosedErrorStream) {
  EXPECT_EQ(shell("steptape inspect absent 2>&-").exitCode, 2);
  EXPECT_EQ(shell("steptape export runs --run absent 2>&-").exitCode, 1);
}

TEST_F(StandardStreams, EscapeNamesInMessages) {
  writeBytes("runs/\x1b[31m\n/events.out.tfevents.1", damagedFile());
  const Outcome outcome = steptape("inspect runs");
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_THAT(outcome.error, HasSubstr(R"( of runs/\x1b[31m\n/events.out.tfevents.1 ()"));
  EXPECT_THAT(outcome.out + outcome.error, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace steptape
