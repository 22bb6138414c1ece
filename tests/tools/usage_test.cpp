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
        "completion", "man", "Examples:", "Exit codes: 0 success, 1 a problem"}) {
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

TEST_F(Usage, HelpListsOptionsThatExcludeEachOther) {
  const std::string help = steptape("repair --help").out;
  EXPECT_THAT(help, StartsWith("Write a new event file with every intact record of a damaged one.\n"
                               "\nUsage: steptape repair [OPTION]... FILE\n"));
  EXPECT_THAT(help, HasSubstr("\n  --output FILE  "));
  EXPECT_THAT(help, HasSubstr("\n  --in-place     "));
  EXPECT_EQ(help.find("--help"), help.rfind("--help"));
}

TEST_F(Usage, HelpShowsDefaultsAsTheyAreTyped) {
  EXPECT_THAT(steptape("aggregate --help").out, HasSubstr("(default: 25,50,75)"));
}

TEST_F(Usage, NamesTheValueThatAnOptionRefuses) {
  const auto messageOf = [&](const std::string& arguments) {
    const Outcome outcome = steptape(arguments);
    EXPECT_EQ(outcome.exitCode, 2) << arguments;
    return outcome.error.substr(0, outcome.error.find('\n'));
  };
  EXPECT_EQ(messageOf("plot . --smooth 2"), "--smooth: got 2; expected a number from 0 to 1");
  EXPECT_EQ(messageOf("plot . --smooth nan"), "--smooth: got nan; expected a number from 0 to 1");
  EXPECT_EQ(messageOf("plot . --smooth much"), "--smooth: got much; expected a number from 0 to 1");
  EXPECT_EQ(messageOf("plot . --x day"), "--x: got day; expected step, time, relative or trained");
  EXPECT_EQ(messageOf("aggregate . --output out --min-runs 0"),
            "--min-runs: got 0; expected a number of at least 1");
}

TEST_F(Usage, HelpFitsTheTerminal) {
  ::setenv("COLUMNS", "60", 1);
  const std::string help = steptape("inspect --help").out;
  ::unsetenv("COLUMNS");
  EXPECT_THAT(help, HasSubstr("\n"
                              "  --run RE    Only runs whose directory contains a match of\n"
                              "              the regular expression\n"));
}

TEST_F(Usage, SuggestsTheClosestCommand) {
  EXPECT_THAT(steptape("insepct runs"),
              Exits(2, "steptape: got the unknown command \"insepct\"; expected \"inspect\"\n"));
}

TEST_F(Usage, ListsTheCommandsIfNoneIsClose) {
  EXPECT_THAT(steptape("bake"), Exits(2, StartsWith("steptape: got the unknown command \"bake\"; "
                                                    "expected one of inspect, runs, export, ")));
}

TEST_F(Usage, PrintsItsVersion) {
  EXPECT_THAT(steptape("--version"), Prints("steptape " STEPTAPE_VERSION "\n"));
}

TEST_F(Usage, RequiresACommand) {
  EXPECT_THAT(steptape(""), Exits(2, HasSubstr("A subcommand is required")));
}

TEST_F(Usage, RefusesUnknownCommandsAndOptions) {
  EXPECT_EQ(steptape("explode").exitCode, 2);
  EXPECT_EQ(steptape("inspect . --explode").exitCode, 2);
}

TEST_F(Usage, RequiresAPath) {
  EXPECT_THAT(steptape("inspect"), Exits(2, HasSubstr("PATH is required")));
}

TEST_F(Usage, NamesTheMissingPath) {
  EXPECT_THAT(
      steptape("inspect absent"),
      Exits(2,
            StartsWith("PATH: cannot find absent: No such file or directory; expected a directory "
                       "or a regular event file\n")));
}

TEST_F(Usage, NamesADirectoryWithoutEventFiles) {
  EXPECT_THAT(steptape("inspect ."), Exits(1, "steptape: no event file in or below .\n"));
}

TEST_F(Usage, NamesFilesOfOtherLibraries) {
  writeBytes("run/vdlrecords.1.log", "");
  for (const char* command : {"inspect .", "tail . --once"}) {
    EXPECT_EQ(steptape(command).error,
              "steptape: no event file in or below .: got ./run/vdlrecords.1.log, a file of "
              "VisualDL; expected files named *tfevents*\n");
  }
}

TEST_F(Usage, TakesPathsAfterTwoDashes) {
  writeBytes("-runs/events.out.tfevents.1", smallFile());
  EXPECT_THAT(steptape("inspect -- -runs"), Prints(HasSubstr("loss")));
  EXPECT_THAT(steptape("runs --metric=loss -- -runs"), Prints(HasSubstr("loss")));
}

}  // namespace
}  // namespace steptape
