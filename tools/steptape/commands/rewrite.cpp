// SPDX-License-Identifier: Apache-2.0
#include "steptape/log/rewrite.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include "steptape/base/status.h"

#include "tools/steptape/commands/commands.h"
#include "tools/steptape/exit_code.h"
#include "tools/steptape/runs/log_paths.h"
#include "tools/steptape/runs/name_filter.h"
#include "tools/steptape/tables/human_text.h"
#include "tools/steptape/tables/json_pieces.h"
#include "tools/steptape/terminal/progress.h"
#include "tools/steptape/terminal/screen_text.h"
#include "tools/steptape/terminal/standard_streams.h"
#include "tools/steptape/terminal/terminal.h"

namespace steptape::tools {
namespace {

struct RewriteArguments {
  std::vector<std::string> paths;
  NameFilter filter;
  std::string output;
  std::vector<std::pair<std::string, std::string>> renames;  // expression, replacement
  std::vector<NamePattern> dropped;
  RewriteOptions options;
  bool json = false;
};

std::optional<std::string> newNameOf(const std::string& tag, const RewriteArguments& arguments,
                                     const std::vector<std::regex>& expressions) {
  const bool isDropped =
      std::any_of(arguments.dropped.begin(), arguments.dropped.end(),
                  [&](const NamePattern& pattern) { return pattern.isFoundIn(tag); });
  if (isDropped || !arguments.filter.tag.isFoundIn(tag)) {
    return std::nullopt;
  }
  std::string name = tag;
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    name = std::regex_replace(name, expressions[i], arguments.renames[i].second);
  }
  return name;
}

/// @throws CLI::ValidationError
std::vector<std::regex> expressionsOf(const RewriteArguments& arguments) {
  std::vector<std::regex> expressions;
  for (const auto& [expression, replacement] : arguments.renames) {
    try {
      expressions.emplace_back(expression, std::regex::ECMAScript);
    } catch (const std::regex_error&) {
      throw CLI::ValidationError(
          "--rename",
          fmt::format("got \"{}\"; expected a regular expression (ECMAScript)", expression));
    }
  }
  return expressions;
}

std::string textOf(const std::string& output, const RewriteResult& result,
                   const Terminal& terminal) {
  std::string text = fmt::format("{}: {} written, {} left out\n", shown(output, terminal),
                                 counted(result.values, "value"), result.valuesLeftOut);
  for (const RewrittenTag& tag : result.tags) {
    if (tag.newName.empty()) {
      text += fmt::format("  left out: {}\n", shown(tag.tag, terminal));
    } else if (tag.newName != tag.tag) {
      text +=
          fmt::format("  {} is now {}\n", shown(tag.tag, terminal), shown(tag.newName, terminal));
    }
  }
  return text;
}

std::string jsonOf(const std::string& run, const std::string& output, const RewriteResult& result) {
  std::vector<std::string> tags;
  for (const RewrittenTag& tag : result.tags) {
    tags.push_back(JsonObject()
                       .add("tag", jsonString(tag.tag))
                       .add("new_name", tag.newName.empty() ? "null" : jsonString(tag.newName))
                       .add("values", jsonInteger(tag.values))
                       .toString());
  }
  return JsonObject()
      .add("run", jsonString(run))
      .add("output", jsonString(output))
      .add("values", jsonInteger(result.values))
      .add("values_left_out", jsonInteger(result.valuesLeftOut))
      .add("tags", jsonArray(tags))
      .toString();
}

int rewrite(const RewriteArguments& arguments) {
  const std::vector<std::regex> expressions = expressionsOf(arguments);
  std::vector<Damage> unreadable;
  const std::vector<RunFiles> runs =
      selectRuns(runsOf(arguments.paths, &unreadable), arguments.filter.run);
  int exitCode = reportProblems(unreadable);
  Progress progress("rewriting", 2 * totalBytes(runs));  // everything is read twice
  const Terminal terminal = terminalAt(STDOUT_FILENO);
  std::vector<std::string> json;
  for (const RunFiles& run : runs) {
    const bool isOnly = runs.size() == 1 || run.name == ".";
    const std::string output = isOnly ? arguments.output : arguments.output + "/" + run.name;
    RewriteOptions options = arguments.options;
    options.rename = [&](const std::string& tag) { return newNameOf(tag, arguments, expressions); };
    options.onProgress = progress.part();
    const RewriteResult result = rewriteRun(run, output, options);
    progress.clear();
    if (arguments.json) {
      json.push_back(jsonOf(run.directory, output, result));
    } else {
      fmt::print("{}", textOf(output, result, terminal));
      flushOutput();
    }
    exitCode = std::max(exitCode, reportProblems(result.damage));
  }
  if (arguments.json) {
    fmt::print("{}\n", JsonObject().add("runs", jsonArray(json)).toString());
  }
  return exitCode;
}

}  // namespace

void addRewriteCommand(CLI::App* app, int* exitCode) {
  CLI::App* command = app->add_subcommand("rewrite", "Write runs anew with other tags or steps");
  const auto arguments = std::make_shared<RewriteArguments>();
  addPathsArgument(command, &arguments->paths);
  command->add_option("--output", arguments->output, "Directory of the new run")
      ->required()
      ->type_name("DIR");
  command
      ->add_option("--rename", arguments->renames,
                   "Replaces what a regular expression matches in each tag; $1 is its first group")
      ->type_name("RE TEXT")
      ->allow_extra_args(false);
  command
      ->add_option_function<std::vector<std::string>>(
          "--drop",
          [arguments](const std::vector<std::string>& patterns) {
            for (const std::string& pattern : patterns) {
              try {
                arguments->dropped.emplace_back(pattern);
              } catch (const std::regex_error&) {
                throw CLI::ValidationError(
                    "--drop",
                    fmt::format("got \"{}\"; expected a regular expression (ECMAScript)", pattern));
              }
            }
          },
          "Leaves out tags that contain a match")
      ->type_name("RE")
      ->allow_extra_args(false);
  addFilterOptions(command, &arguments->filter);
  command->add_option("--shift-steps", arguments->options.stepShift, "Added to each step")
      ->type_name("STEPS")
      ->capture_default_str();
  command->add_option("--from", arguments->options.fromStep, "Only this step and later ones")
      ->type_name("STEP");
  command->add_option("--to", arguments->options.toStep, "Only this step and earlier ones")
      ->type_name("STEP");
  command->add_flag("--json", arguments->json, "Print JSON for programs");
  command->footer(
      "The original does not change. Several runs are written below --output, each by its name. "
      "Points that a restart overwrote are not written.\n"
      "\n"
      "Examples:\n"
      "  steptape rewrite runs/a --output runs/b --rename '^Loss/' loss/ --drop '^debug'\n"
      "  steptape rewrite runs/second --output runs/joined --shift-steps 10000\n"
      "  steptape rewrite runs --output short --tag '^loss' --to 1000");
  command->callback([arguments, exitCode] { *exitCode = rewrite(*arguments); });
}

}  // namespace steptape::tools
