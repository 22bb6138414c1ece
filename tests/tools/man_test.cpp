// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <regex>
#include <string>

#include "steptape/base/version.h"

#include "tools/program_info.h"
#include "tools/steptape/app.h"
#include "tools/steptape/help/command_info.h"
#include "tools/steptape/help/man_page.h"
#include "tools/tool_fixture.h"

#include <gmock/gmock.h>

namespace steptape::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Returns `text` as it is written in roff.
std::string roff(const std::string& text) {
  return std::regex_replace(text, std::regex("-"), "\\-");
}

CommandInfo smallCommand() {
  CommandInfo command;
  command.name = "steptape look";
  command.description = "Look at it";
  command.options = {{{"-o", "--output"}, "FILE", {}, true, false, false, "", "The file"},
                     {{"--to"}, "a|b", {"a", "b"}, false, false, false, "a", "Where"}};
  command.arguments = {{{"PATH"}, "PATH", {}, true, true, true, "", "What"}};
  command.notes = {"One\nparagraph.", "Two\n  lines"};
  command.examples = {"  steptape look 'a\\b'", ".hidden"};
  command.exitCodes = "0 fine.";
  return command;
}

using Man = ToolFixture;

TEST(ManPage, IsRoff) {
  CommandInfo whole;
  whole.name = "steptape";
  whole.commands = {smallCommand()};
  EXPECT_EQ(manPage(smallCommand(), whole),
            ".TH \"STEPTAPE\\-LOOK\" 1 \"\" \"steptape " STEPTAPE_VERSION
            "\" \"Steptape\"\n"
            ".nh\n.ad l\n"
            ".SH NAME\n"
            "steptape\\-look \\- Look at it\n"
            ".SH SYNOPSIS\n"
            "\\fBsteptape look\\fR [OPTION]... PATH...\n"
            ".SH DESCRIPTION\n"
            "Look at it.\n"
            ".PP\n"
            "One\nparagraph.\n"
            ".PP\n"
            ".EX\nTwo\n  lines\n.EE\n"
            ".SH ARGUMENTS\n"
            ".TP\n\\fIPATH\\fR ...\nWhat.\n"
            ".SH OPTIONS\n"
            ".TP\n\\fB\\-o\\fR, \\fB\\-\\-output\\fR \\fIFILE\\fR\nThe file.\n"
            ".TP\n\\fB\\-\\-to\\fR a|b\nWhere.\nDefault: a.\n"
            ".SH EXAMPLES\n"
            ".EX\n  steptape look 'a\\eb'\n\\&.hidden\n.EE\n"
            ".SH EXIT STATUS\n0 fine.\n"
            ".SH SEE ALSO\n\\fBsteptape\\fR(1)\n");
}

TEST_F(Man, PrintsTheProgramsPage) {
  const Outcome outcome = steptape("man");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_THAT(outcome.out, StartsWith(".TH \"STEPTAPE\" 1 "));
  for (const CommandInfo& command : program().commands) {
    EXPECT_THAT(outcome.out, HasSubstr(".TP\n\\fB" + roff(command.lastName()) + "\\fR\n"));
  }
}

TEST_F(Man, HasAPageForEveryCommandWithAllItsOptions) {
  EXPECT_EQ(steptape("man --output .").exitCode, 0);
  for (const CommandInfo& command : program().commands) {
    const std::string page = contentOf(manPageName(command) + ".1");
    EXPECT_EQ(page, steptape("man " + command.lastName()).out);
    EXPECT_THAT(page, HasSubstr(".SH EXAMPLES\n"));
    for (const OptionInfo& option : command.options) {
      for (const std::string& name : option.names) {
        EXPECT_THAT(page, HasSubstr("\\fB" + roff(name) + "\\fR"));
      }
    }
  }
}

TEST_F(Man, KnowsOnlyCommands) {
  EXPECT_THAT(steptape("man explode"),
              Exits(2, HasSubstr("COMMAND: got explode; expected inspect,")));
}

#ifdef STEPTAPE_MANDOC
TEST_F(Man, PassesTheLintOfMandoc) {
  EXPECT_EQ(steptape("man --output .").exitCode, 0);
  // The pages have no date: the same program makes the same pages every day.
  const Outcome outcome = run("sh -c 'mandoc -T lint -W warning *.1 | grep -v \"missing date\"'");
  EXPECT_EQ(outcome.out, "");
}
#endif

}  // namespace
}  // namespace steptape::tools
