// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

#include "tools/steptape/commands/commands.h"
#include "tools/steptape/exit_code.h"
#include "tools/steptape/tables/human_text.h"
#include "tools/steptape/tables/json_text.h"
#include "tools/steptape/terminal/screen_text.h"
#include "tools/steptape/terminal/terminal.h"
#include "writer/recovery.h"

namespace steptape::tools {
namespace {

using steptape::detail::RecoveryOptions;
using steptape::detail::RecoveryReport;

struct RecoverArguments {
  std::vector<std::string> paths;
  bool all = false;
  bool discardMissing = false;
  bool json = false;
};

RecoveryReport recoverAll(const RecoverArguments& arguments) {
  RecoveryOptions options;
  options.below = true;
  options.discardMissing = arguments.discardMissing;
  if (arguments.all) {
    return recoverRuns(options);
  }
  RecoveryReport report;
  for (const std::string& path : arguments.paths) {
    options.directory = path;
    for (RecoveryReport::Process& process : recoverRuns(options).processes) {
      report.processes.push_back(std::move(process));
    }
  }
  return report;
}

void printReport(const RecoveryReport& report) {
  const Terminal terminal = terminalAt(STDOUT_FILENO);
  if (report.processes.empty()) {
    fmt::print("nothing to recover\n");
  }
  for (const RecoveryReport::Process& process : report.processes) {
    fmt::print("process {} on {} ({}): {} recovered\n", process.pid, shown(process.host, terminal),
               shown(process.program, terminal), counted(process.values, "value"));
    for (const std::string& file : process.files) {
      fmt::print("  written: {}\n", shown(file, terminal));
    }
    if (process.unreadableValues > 0) {
      fmt::print("  lost: {} that it had not yet encoded, such as images\n",
                 counted(process.unreadableValues, "value"));
    }
    for (const std::string& problem : process.problems) {
      fmt::print("  problem: {}\n", shown(problem, terminal));
    }
    if (process.isKept) {
      fmt::print("  kept for another try\n");
    }
  }
}

std::vector<std::string> textsOf(const std::vector<std::string>& texts) {
  std::vector<std::string> strings;
  strings.reserve(texts.size());
  for (const std::string& text : texts) {
    strings.push_back(jsonString(text));
  }
  return strings;
}

void printJson(const RecoveryReport& report) {
  std::vector<std::string> processes;
  for (const RecoveryReport::Process& process : report.processes) {
    processes.push_back(JsonObject()
                            .add("pid", jsonInteger(process.pid))
                            .add("host", jsonString(process.host))
                            .add("program", jsonString(process.program))
                            .add("runs", jsonArray(textsOf(process.directories)))
                            .add("values_recovered", jsonInteger(process.values))
                            .add("values_lost", jsonInteger(process.unreadableValues))
                            .add("files", jsonArray(textsOf(process.files)))
                            .add("problems", jsonArray(textsOf(process.problems)))
                            .add("kept", jsonBool(process.isKept))
                            .toString());
  }
  fmt::print("{}\n", JsonObject().add("processes", jsonArray(processes)).toString());
}

int recover(const RecoverArguments& arguments) {
  if (arguments.all != arguments.paths.empty()) {
    throw CLI::ValidationError(
        "recover", arguments.all ? "got --all and a path; expected one of them"
                                 : "got no path; expected a path, or --all for every run");
  }
  const RecoveryReport report = recoverAll(arguments);
  if (arguments.json) {
    printJson(report);
  } else {
    printReport(report);
  }
  for (const RecoveryReport::Process& process : report.processes) {
    if (!process.problems.empty()) {
      return kExitProblem;
    }
  }
  return kExitFine;
}

}  // namespace

void addRecoverCommand(CLI::App* app, int* exitCode) {
  CLI::App* command = app->add_subcommand(
      "recover", "Bring into runs what killed programs had logged and not yet written");
  const auto arguments = std::make_shared<RecoverArguments>();
  command->add_option("PATH", arguments->paths, "A run, or a directory of runs");
  command->add_flag("--all", arguments->all, "Every run of this user on this machine");
  command->add_flag("--discard-missing", arguments->discardMissing,
                    "Drop what belongs to directories that do not exist any more");
  command->add_flag("--json", arguments->json, "Print JSON for programs");
  command->footer(
      "A program that logs keeps its scalars in memory that outlives it, until they are in the "
      "event files. The next program that logs into the same run recovers them, and so do this "
      "command and 'steptape tail'. It must run on the machine, and in the container, where the "
      "program was killed, before the next boot.\n"
      "\n"
      "Bytes that are in the files stay unchanged. Programs that still run are left alone.\n"
      "\n"
      "Exit codes: 0 recovered, or nothing to recover, 1 something is damaged or could not be "
      "written, 2 wrong arguments.\n"
      "\n"
      "Examples:\n"
      "  steptape recover runs\n"
      "  steptape recover --all");
  command->callback([arguments, exitCode] { *exitCode = recover(*arguments); });
}

}  // namespace steptape::tools
