// SPDX-License-Identifier: Apache-2.0
// Tests the scripts in real shells.
#include <memory>
#include <string>
#include <vector>

#include "tools/program_info.h"
#include "tools/steptape/app.h"
#include "tools/steptape/help/command_info.h"
#include "tools/steptape/help/completion_script.h"
#include "tools/tool_fixture.h"

#include <gmock/gmock.h>

namespace steptape::tools {
namespace {

using ::testing::HasSubstr;

class Completion : public ToolFixture {
 protected:
  /// Returns bash's completions of the last of `words`, one per line.
  std::string bashOffers(const std::string& words) const {
    const Outcome outcome =
        run("bash -c 'source <(steptape completion bash); COMP_WORDS=(" + words +
            "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _steptape; printf \"%s\\n\" "
            "\"${COMPREPLY[@]}\"'");
    EXPECT_EQ(outcome.error, "");
    return outcome.out;
  }
};

TEST_F(Completion, OffersCommands) {
  EXPECT_EQ(bashOffers("steptape insp"), "inspect\n");
  EXPECT_THAT(bashOffers("steptape \"\""), HasSubstr("inspect\nruns\nexport\n"));
}

TEST_F(Completion, OffersOptionsOfTheCommand) {
  EXPECT_EQ(bashOffers("steptape inspect --j"), "--json\n");
  EXPECT_EQ(bashOffers("steptape inspect runs --ru"), "--run\n");
  EXPECT_EQ(bashOffers("steptape --ver"), "--version\n");
}

TEST_F(Completion, OffersTheValuesOfAnOption) {
  EXPECT_THAT(bashOffers("steptape export --format \"\""), HasSubstr("json\n"));
  // Bash splits --format= and --format=cs.
  EXPECT_THAT(bashOffers("steptape export --format ="), HasSubstr("json\n"));
  EXPECT_EQ(bashOffers("steptape export --format = cs"), "csv\n");
  EXPECT_EQ(bashOffers("steptape completion z"), "zsh\n");
}

TEST_F(Completion, OffersPaths) {
  writeBytes("runs/demo/a b", "");
  EXPECT_EQ(bashOffers("steptape inspect ru"), "runs\n");
  EXPECT_EQ(bashOffers("steptape inspect runs/demo/"), "runs/demo/a b\n");
  EXPECT_EQ(bashOffers("steptape export --output ru"), "runs\n");
}

TEST_F(Completion, OffersNothingForFreeText) {
  writeBytes("runs/events.out.tfevents.1", "");
  EXPECT_EQ(bashOffers("steptape inspect --run ru"), "\n");
}

TEST_F(Completion, WritesAFile) {
  EXPECT_EQ(steptape("completion fish --output steptape.fish").exitCode, 0);
  EXPECT_EQ(contentOf("steptape.fish"), fishCompletion(program()));
}

TEST_F(Completion, KnowsThreeShells) {
  EXPECT_THAT(steptape("completion tcsh"),
              Exits(2, HasSubstr("SHELL: got tcsh; expected bash, fish or zsh")));
}

TEST_F(Completion, EveryOptionIsInEveryScript) {
  const CommandInfo info = program();
  const std::string bash = bashCompletion(info);
  const std::string zsh = zshCompletion(info);
  const std::string fish = fishCompletion(info);
  for (const CommandInfo& command : info.commands) {
    for (const OptionInfo& option : command.options) {
      const std::string name = option.names.back();
      EXPECT_THAT(bash, HasSubstr(name));
      EXPECT_THAT(zsh, HasSubstr(name));
      EXPECT_THAT(fish, HasSubstr("--long-option " + name.substr(2) + " "));
    }
  }
}

#ifdef STEPTAPE_FISH
TEST_F(Completion, WorksInFish) {
  const Outcome outcome =
      run("fish --no-config -c 'steptape completion fish | source; complete -C \"steptape insp\"; "
          "complete -C \"steptape export --format cs\"; complete -C \"steptape inspect --js\"'");
  EXPECT_EQ(outcome.error, "");
  EXPECT_THAT(outcome.out,
              ::testing::MatchesRegex("inspect\t[^\n]*\ncsv\t[^\n]*\n--json\t[^\n]*\n"));
}
#endif

#ifdef STEPTAPE_ZSH
TEST_F(Completion, IsZsh) {
  EXPECT_EQ(steptape("completion zsh --output _steptape").exitCode, 0);
  EXPECT_EQ(run("zsh -f -n _steptape").error, "");
  // What compinit does with a file in $fpath, and sourcing the script.
  const Outcome outcome =
      run("zsh -f -c 'autoload -U compinit && compinit -D -u && source ./_steptape && "
          "echo $_comps[steptape]'");
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.out, "_steptape\n");
}
#endif

}  // namespace
}  // namespace steptape::tools
