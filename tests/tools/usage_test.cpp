// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "steptape/base/version.h"

#include "tools/tool_fixture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using testing::HasSubstr;

using Usage = ToolFixture;

TEST_F(Usage, HelpShowsCommandsAndExamples) {
  const Outcome outcome = steptape("--help");
  EXPECT_EQ(outcome.exitCode, 0);
  for (const char* text : {"inspect", "export", "Examples:", "Exit codes: 0 fine, 1 found"}) {
    EXPECT_THAT(outcome.out, HasSubstr(text));
  }
}

TEST_F(Usage, EveryCommandHasHelpWithExamples) {
  for (const std::string command : {"inspect", "export"}) {
    const Outcome outcome = steptape(command + " --help");
    EXPECT_EQ(outcome.exitCode, 0);
    EXPECT_THAT(outcome.out, HasSubstr("Examples:\n  steptape " + command));
  }
}

TEST_F(Usage, TellsItsVersion) {
  const Outcome outcome = steptape("--version");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_EQ(outcome.out, "steptape " STEPTAPE_VERSION "\n");
}

TEST_F(Usage, WantsACommand) {
  const Outcome outcome = steptape("");
  EXPECT_EQ(outcome.exitCode, 2);
  EXPECT_THAT(outcome.error, HasSubstr("A subcommand is required"));
}

TEST_F(Usage, RefusesUnknownCommandsAndOptions) {
  EXPECT_EQ(steptape("explode").exitCode, 2);
  EXPECT_EQ(steptape("inspect . --explode").exitCode, 2);
}

TEST_F(Usage, WantsAPath) {
  const Outcome outcome = steptape("inspect");
  EXPECT_EQ(outcome.exitCode, 2);
  EXPECT_THAT(outcome.error, HasSubstr("PATH is required"));
}

TEST_F(Usage, SaysWhichPathIsNotThere) {
  const Outcome outcome = steptape("inspect absent");
  EXPECT_EQ(outcome.exitCode, 2);
  EXPECT_THAT(outcome.error, HasSubstr("Path does not exist: absent"));
}

TEST_F(Usage, SaysWhereThereIsNoEventFile) {
  const Outcome outcome = steptape("inspect .");
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_EQ(outcome.error, "steptape: no event file in or below .\n");
}

}  // namespace
}  // namespace steptape
