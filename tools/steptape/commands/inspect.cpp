// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

#include "tools/steptape/commands/commands.h"
#include "tools/steptape/exit_code.h"
#include "tools/steptape/runs/log_paths.h"
#include "tools/steptape/runs/run_summary.h"
#include "tools/steptape/tables/inspect_json.h"
#include "tools/steptape/tables/inspect_text.h"
#include "tools/steptape/tables/json_pieces.h"
#include "tools/steptape/terminal/standard_streams.h"
#include "tools/steptape/terminal/terminal.h"

namespace steptape::tools {
namespace {

struct InspectOptions {
  std::vector<std::string> paths;
  NameFilter filter;
  bool json = false;
};

int inspect(const InspectOptions& options) {
  std::vector<Damage> unreadable;
  const std::vector<RunFiles> runs =
      selectRuns(runsOf(options.paths, &unreadable), options.filter.run);
  int exitCode = reportProblems(unreadable);
  const Terminal terminal = terminalAt(STDOUT_FILENO);
  Progress progress("reading", totalBytes(runs));
  std::vector<std::string> json;
  const char* separator = "";
  for (const RunFiles& run : runs) {
    const RunReader reader = readRun(run, &progress);
    const RunSummary summary = summarize(reader, options.filter.tag);
    progress.clear();
    if (options.json) {
      json.push_back(inspectJson(summary));
    } else {
      fmt::print("{}{}", separator, inspectText(summary, terminal));
      // The problems of a run follow its tables on the same screen.
      flushOutput();
      separator = "\n";
      printNotes(summary.notes, "--json has all");
    }
    exitCode = std::max(exitCode, reportProblems(reader.damage()));
  }
  if (options.json) {
    fmt::print("{}\n", JsonObject().add("runs", jsonArray(json)).toString());
  }
  return exitCode;
}

}  // namespace

void addInspectCommand(CLI::App* app, int* exitCode) {
  CLI::App* command =
      app->add_subcommand("inspect", "Show what runs hold: files, tags, curves, damage");
  const auto options = std::make_shared<InspectOptions>();
  addPathsArgument(command, &options->paths);
  addFilterOptions(command, &options->filter);
  command->add_flag("--json", options->json, "Print JSON for programs instead of tables");
  command->footer(
      "Examples:\n"
      "  steptape inspect runs\n"
      "  steptape inspect runs --run 'lr_0.1' --tag '^loss/'\n"
      "  steptape inspect --json runs/demo runs/baseline | jq '.runs[].tags[].tag'");
  command->callback([options, exitCode] { *exitCode = inspect(*options); });
}

}  // namespace steptape::tools
