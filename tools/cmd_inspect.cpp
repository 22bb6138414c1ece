// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/json.h"
#include "steptape/reader/scalar_series.h"

#include "tools/commands.h"
#include "tools/exit_code.h"
#include "tools/log_paths.h"
#include "tools/table.h"

namespace steptape::tools {
namespace {

struct InspectOptions {
  std::vector<std::string> paths;
  bool json = false;
};

std::string counted(std::size_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::size_t pointsOf(const ScalarsByTag& scalars) {
  std::size_t points = 0;
  for (const auto& [tag, series] : scalars) {
    points += series.size();
  }
  return points;
}

std::string describe(const RunFiles& run, const ScalarsByTag& scalars) {
  Table table({"tag", "points", "first step", "last step", "first value", "last value"});
  for (const auto& [tag, series] : scalars) {
    table.addRow({tag, fmt::to_string(series.size()), fmt::to_string(series.front().step),
                  fmt::to_string(series.back().step), fmt::format("{:.6g}", series.front().value),
                  fmt::format("{:.6g}", series.back().value)});
  }
  const std::string title =
      fmt::format("{}: {}, {}, {}\n", run.directory, counted(run.files.size(), "file"),
                  counted(scalars.size(), "scalar tag"), counted(pointsOf(scalars), "point"));
  return scalars.empty() ? title : title + table.toString(2);
}

std::string jsonString(std::string_view text) {
  std::string json;
  appendJsonString(&json, text);
  return json;
}

std::string jsonNumber(float value) {
  std::string json;
  appendJsonNumber(&json, double{value});
  return json;
}

/// A JSON array of `items`, one on each line.
std::string jsonArray(const std::vector<std::string>& items) {
  return items.empty() ? "[]" : fmt::format("[\n{}\n]", fmt::join(items, ",\n"));
}

std::string tagJson(const std::string& tag, const std::vector<ScalarPoint>& series) {
  return fmt::format(
      R"({{"tag": {}, "points": {}, "first_step": {}, "last_step": {}, "first_value": {}, )"
      R"("last_value": {}}})",
      jsonString(tag), series.size(), series.front().step, series.back().step,
      jsonNumber(series.front().value), jsonNumber(series.back().value));
}

std::string problemJson(const Damage& problem) {
  return fmt::format(R"({{"file": {}, "offset": {}, "damaged": {}, "message": {}}})",
                     jsonString(problem.path), problem.offset,
                     problem.outcome != ReadOutcome::kTruncated,
                     jsonString(problem.status.message()));
}

std::string runJson(const RunFiles& run, const RunScalars& result) {
  std::vector<std::string> tags;
  for (const auto& [tag, series] : result.scalars) {
    tags.push_back(tagJson(tag, series));
  }
  std::vector<std::string> problems;
  for (const Damage& problem : result.problems) {
    problems.push_back(problemJson(problem));
  }
  return fmt::format(R"({{"run": {}, "files": {}, "tags": {}, "problems": {}}})",
                     jsonString(run.directory), run.files.size(), jsonArray(tags),
                     jsonArray(problems));
}

int inspect(const InspectOptions& options) {
  int exitCode = kExitFine;
  std::vector<std::string> runs;
  for (const RunFiles& run : runsOf(options.paths)) {
    const RunScalars result = readRunScalars(run);
    if (options.json) {
      runs.push_back(runJson(run, result));
    } else {
      fmt::print("{}", describe(run, result.scalars));
    }
    exitCode = std::max(exitCode, reportProblems(result.problems));
  }
  if (options.json) {
    fmt::print("{{\"runs\": {}}}\n", jsonArray(runs));
  }
  return exitCode;
}

}  // namespace

void addInspectCommand(CLI::App* app, int* exitCode) {
  CLI::App* command =
      app->add_subcommand("inspect", "Show the runs and scalar tags in event files");
  const auto options = std::make_shared<InspectOptions>();
  addPathsArgument(command, &options->paths);
  command->add_flag("--json", options->json, "Print JSON for programs instead of tables");
  command->footer(
      "Examples:\n"
      "  steptape inspect runs\n"
      "  steptape inspect --json runs/demo runs/baseline");
  command->callback([options, exitCode] { *exitCode = inspect(*options); });
}

}  // namespace steptape::tools
