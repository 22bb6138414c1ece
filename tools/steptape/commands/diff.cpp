// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include "tools/steptape/commands/commands.h"
#include "tools/steptape/exit_code.h"
#include "tools/steptape/help/value_check.h"
#include "tools/steptape/runs/log_paths.h"
#include "tools/steptape/runs/path_check.h"
#include "tools/steptape/runs/rounded_scalars.h"
#include "tools/steptape/runs/run_diff.h"
#include "tools/steptape/tables/human_text.h"
#include "tools/steptape/tables/json_pieces.h"
#include "tools/steptape/tables/table.h"
#include "tools/steptape/terminal/screen_text.h"
#include "tools/steptape/terminal/standard_streams.h"
#include "tools/steptape/terminal/terminal.h"

namespace steptape::tools {
namespace {

constexpr int kChartIndent = 2;

struct DiffOptions {
  std::string first;
  std::string second;
  NamePattern tag;
  double tolerance = 0;
  bool json = false;
};

/// Returns the run at `path`, the value of `argument`, even if there are other runs below it.
RunFiles oneRunAt(const std::string& path, const char* argument) {
  std::vector<Damage> unreadable;  // is of other runs
  const std::vector<RunFiles> runs = runsOf({path}, &unreadable);
  const auto own =
      std::find_if(runs.begin(), runs.end(), [](const RunFiles& run) { return run.name == "."; });
  if (own == runs.end() && runs.size() > 1) {
    throw CLI::ValidationError(
        argument, fmt::format("got {}, which holds {}; expected one run, such as {}", path,
                              counted(runs.size(), "run"), runs.front().directory));
  }
  return own == runs.end() ? runs.front() : *own;
}

std::string valueText(const std::optional<double>& value) {
  return value ? shortNumber(*value) : "-";
}

std::string pointsText(const TagDiff& diff) {
  const std::string first = fmt::to_string(diff.points[0]);
  return diff.points[0] == diff.points[1] ? first : first + " / " + fmt::to_string(diff.points[1]);
}

std::string changeText(const TagDiff& diff) {
  return diff.lastValues[0] && diff.lastValues[1]
             ? fmt::format("{:+.3g}", *diff.lastValues[1] - *diff.lastValues[0])
             : "-";
}

/// Returns the differences between tags of one kind; only scalars have values to show.
std::string differenceTable(const std::vector<TagDiff>& tags, bool scalars,
                            const Terminal& terminal) {
  std::vector<TableColumn> columns{
      {scalars ? "scalar" : "other tag", TableColumn::Align::kLeft}, {"points"}, {"first step"}};
  if (scalars) {
    columns.insert(columns.end(), {{"- there"}, {"+ there"}, {"- last"}, {"+ last"}, {"change"}});
  }
  for (const TagDiff& diff : tags) {
    if (diff.isScalar != scalars || !diff.parting) {
      continue;
    }
    std::vector<std::string> cells{shown(diff.tag, terminal), pointsText(diff),
                                   fmt::to_string(diff.parting->step)};
    if (scalars) {
      cells.insert(cells.end(), {valueText(diff.parting->values[0]),
                                 valueText(diff.parting->values[1]), valueText(diff.lastValues[0]),
                                 valueText(diff.lastValues[1]), changeText(diff)});
    }
    for (std::size_t i = 0; i < cells.size(); ++i) {
      columns[i].cells.push_back(std::move(cells[i]));
    }
  }
  return tableBelow(std::move(columns), {"points", "- there", "+ there", "change", "first step"},
                    kChartIndent, terminal);
}

/// Prints an indented line that fits the terminal.
void printCut(const std::string& text, const Terminal& terminal) {
  fmt::print("{:{}}{}\n", "", kChartIndent, cut(text, terminal.columns - kChartIndent, terminal));
}

/// Prints how texts differ at the first step where they do.
void printTexts(const std::vector<TagDiff>& tags, const Terminal& terminal) {
  constexpr std::size_t kMostLines = 100;
  for (const TagDiff& one : tags) {
    if (one.textLines.empty()) {
      continue;
    }
    fmt::print("\n{:{}}{} at step {}:\n", "", kChartIndent, shown(one.tag, terminal),
               one.parting->step);
    const std::size_t lines = std::min(one.textLines.size(), kMostLines);
    for (std::size_t i = 0; i < lines; ++i) {
      printCut(one.textLines[i], terminal);
    }
    if (lines < one.textLines.size()) {
      printCut(fmt::format("and {} more; --json has all", one.textLines.size() - lines), terminal);
    }
  }
}

void print(const RunDiff& diff, const std::array<std::string, 2>& names, const Terminal& terminal) {
  if (diff.isSame()) {
    fmt::print("no difference in {}\n", counted(diff.commonTags, "tag"));
    return;
  }
  std::set<std::string> differing;
  for (const TagDiff& one : diff.tags) {
    differing.insert(one.tag);
  }
  fmt::print("- {}\n+ {}\n{} in both, {} of them differ\n", shown(names[0], terminal),
             shown(names[1], terminal), counted(diff.commonTags, "tag"), differing.size());
  for (std::size_t run = 0; run < 2; ++run) {
    for (const std::string& tag : diff.onlyIn[run]) {
      printCut(fmt::format("only in {}: {}", names[run], tag), terminal);
    }
  }
  for (const TagDiff& one : diff.tags) {
    for (const std::string& difference : one.metadata) {
      printCut(fmt::format("{}: {}", one.tag, difference), terminal);
    }
  }
  fmt::print("{}{}", differenceTable(diff.tags, true, terminal),
             differenceTable(diff.tags, false, terminal));
  printTexts(diff.tags, terminal);
}

std::string jsonOf(const std::optional<double>& value) {
  return value ? jsonNumber(*value) : "null";
}

std::string jsonPair(const std::array<std::optional<double>, 2>& values) {
  return jsonShortArray({jsonOf(values[0]), jsonOf(values[1])});
}

std::string tagJson(const TagDiff& diff) {
  JsonObject json;
  json.add("tag", jsonString(diff.tag))
      .add("plugin", jsonString(diff.plugin))
      .add("metadata", jsonStrings(diff.metadata))
      .add("points",
           jsonShortArray({fmt::to_string(diff.points[0]), fmt::to_string(diff.points[1])}))
      .add("differing_points", fmt::to_string(diff.differingPoints))
      .add("first_step", diff.parting ? fmt::to_string(diff.parting->step) : "null");
  if (diff.parting) {
    json.add("values_there", jsonPair(diff.parting->values));
  }
  json.add("last_values", jsonPair(diff.lastValues));
  if (!diff.textLines.empty()) {
    json.add("text_lines", jsonStrings(diff.textLines));
  }
  return json.toString();
}

void printJson(const RunDiff& diff, const std::array<std::string, 2>& names) {
  std::vector<std::string> tags;
  for (const TagDiff& one : diff.tags) {
    tags.push_back(tagJson(one));
  }
  fmt::print("{}\n", JsonObject()
                         .add("runs", jsonStrings({names[0], names[1]}))
                         .add("same", jsonBool(diff.isSame()))
                         .add("common_tags", fmt::to_string(diff.commonTags))
                         .add("only_in_first", jsonStrings(diff.onlyIn[0]))
                         .add("only_in_second", jsonStrings(diff.onlyIn[1]))
                         .add("differing_tags", jsonArray(tags))
                         .toString());
}

int compare(const DiffOptions& options) {
  const std::vector<RunFiles> found{oneRunAt(options.first, "FIRST"),
                                    oneRunAt(options.second, "SECOND")};
  Progress progress("reading", totalBytes(found));
  const RunReader first = readRun(found[0], &progress);
  const RunReader second = readRun(found[1], &progress);
  progress.clear();
  const int problems = std::max(reportProblems(first.damage()), reportProblems(second.damage()));
  std::vector<std::string> notes;
  addRoundedNotes(first, options.tag, &notes);
  addRoundedNotes(second, options.tag, &notes);
  printNotes(notes);
  const RunDiff diff = compareRuns(first, second, options.tag, options.tolerance);
  const std::array<std::string, 2> names{found[0].directory, found[1].directory};
  if (options.json) {
    printJson(diff, names);
  } else {
    print(diff, names, terminalAt(STDOUT_FILENO));
  }
  return std::max(problems, diff.isSame() ? kExitFine : kExitProblem);
}

}  // namespace

void addDiffCommand(CLI::App* app, int* exitCode) {
  CLI::App* command = app->add_subcommand("diff", "Show where two runs differ");
  const auto options = std::make_shared<DiffOptions>();
  for (CLI::Option* option :
       {command->add_option("FIRST", options->first, "A run directory or an event file"),
        command->add_option("SECOND", options->second, "The run to compare it with")}) {
    option->required();
    expectPathOrUrl(option, "event file");
  }
  addPatternOption(command, "--tag", &options->tag,
                   "Only tags that contain a match of the regular expression");
  command
      ->add_option("--tolerance", options->tolerance,
                   "Scalars are equal up to this share of the larger one")
      ->check(inRange(0, 1))
      ->type_name("RATIO")
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print JSON for programs instead of tables");
  command->footer(
      "Compares tags, their metadata, and their points by step, but not wall times.\n"
      "\n"
      "Exit codes: 0 no difference, 1 a difference or a damaged file, 2 wrong arguments.\n"
      "\n"
      "Examples:\n"
      "  steptape diff runs/before runs/after\n"
      "  steptape diff runs/before runs/after --tag loss --tolerance 1e-6 --json");
  command->callback([options, exitCode] { *exitCode = compare(*options); });
}

}  // namespace steptape::tools
