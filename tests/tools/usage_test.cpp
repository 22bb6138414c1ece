// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>
#include <string>

#include "steptape/base/version.h"

#include "tools/steptape/app.h"
#include "tools/steptape/help/command_info.h"
#include "tools/tool_fixture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using Usage = ToolFixture;

TEST_F(Usage, HelpShowsCommandsAndExamples) {
  const Outcome outcome = steptape("--help");
  EXPECT_EQ(outcome.exitCode, 0);
  for (const char* text :
       {"inspect", "export", "check", "repair", "tail", "plot", "diff", "profile", "merge-traces",
        "completion", "man", "Examples:", "Exit codes: 0 fine, 1 found"}) {
    EXPECT_THAT(outcome.out, HasSubstr(text));
  }
}

TEST_F(Usage, EveryCommandHasHelpWithExamples) {
  int exitCode = 0;
  const tools::CommandInfo program = tools::infoOf(*tools::makeApp(&exitCode));
  EXPECT_GE(program.commands.size(), 4U);
  for (const tools::CommandInfo& command : program.commands) {
    SCOPED_TRACE(command.name);
    const Outcome outcome = steptape(command.lastName() + " --help");
    EXPECT_EQ(outcome.exitCode, 0);
    EXPECT_THAT(outcome.out, StartsWith(command.description + ".\n\nUsage: " + command.name));
    EXPECT_THAT(outcome.out, HasSubstr("\nExamples:\n  "));
    EXPECT_FALSE(command.examples.empty());
    EXPECT_THAT(outcome.out, ContainsRegex("\n  [^\n]*" + command.name + " "));
    EXPECT_THAT(outcome.out, HasSubstr("\nExit codes: 0 "));
  }
}

TEST_F(Usage, EveryOptionIsDescribed) {
  int exitCode = 0;
  for (const tools::CommandInfo& command : tools::infoOf(*tools::makeApp(&exitCode)).commands) {
    for (const tools::OptionInfo& option : command.options) {
      EXPECT_NE(option.description, "") << command.name << " " << option.names.back();
    }
    for (const tools::OptionInfo& argument : command.arguments) {
      EXPECT_NE(argument.description, "") << command.name << " " << argument.names.back();
    }
  }
}

TEST_F(Usage, HelpFitsTheTerminal) {
  ::setenv("COLUMNS", "60", 1);
  const std::string help = steptape("inspect --help").out;
  ::unsetenv("COLUMNS");
  EXPECT_THAT(help, HasSubstr("\n"
                              "  --run RE    Only runs in whose directory the regular\n"
                              "              expression is found\n"));
}

TEST_F(Usage, SaysWhichCommandIsMeant) {
  const Outcome outcome = steptape("insepct runs");
  EXPECT_EQ(outcome.exitCode, 2);
  EXPECT_EQ(outcome.error, "steptape: there is no command 'insepct'; the closest is 'inspect'\n");
}

TEST_F(Usage, ListsTheCommandsWhereNoneIsMeant) {
  const Outcome outcome = steptape("bake");
  EXPECT_EQ(outcome.exitCode, 2);
  EXPECT_THAT(
      outcome.error,
      StartsWith("steptape: there is no command 'bake'; the commands are inspect, export, "));
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
  EXPECT_THAT(
      outcome.error,
      StartsWith("PATH: cannot find absent: No such file or directory; expected a directory "
                 "or a regular event file\n"));
}

TEST_F(Usage, SaysWhereThereIsNoEventFile) {
  const Outcome outcome = steptape("inspect .");
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_EQ(outcome.error, "steptape: no event file in or below .\n");
}

}  // namespace
}  // namespace steptape
