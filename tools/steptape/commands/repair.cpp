// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <system_error>
#include <unistd.h>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/log/file_check.h"

#include "tools/steptape/commands/commands.h"
#include "tools/steptape/exit_code.h"
#include "tools/steptape/runs/path_check.h"
#include "tools/steptape/tables/human_text.h"
#include "tools/steptape/tables/json_pieces.h"
#include "tools/steptape/terminal/progress.h"
#include "tools/steptape/terminal/screen_text.h"
#include "tools/steptape/terminal/terminal.h"

namespace steptape::tools {
namespace {

struct RepairArguments {
  std::string file;
  std::string output;
  bool inPlace = false;
  bool force = false;
  bool json = false;
};

void checkArguments(const RepairArguments& arguments) {
  if (arguments.force && arguments.inPlace) {
    throw CLI::ValidationError("--force",
                               "got --in-place, which keeps the original; expected --output");
  }
  std::error_code notThere;
  if (!arguments.inPlace &&
      std::filesystem::equivalent(arguments.file, arguments.output, notThere)) {
    throw CLI::ValidationError("--output",
                               "got the damaged file itself; expected another file, or --in-place");
  }
}

std::string stepLine(const RepairStep& step, const Terminal& terminal) {
  const char* const what = step.kind == RepairStep::Kind::kLeftOut ? "left out: " : "kept: ";
  return fmt::format("  offset {}, {}: {}{}\n", step.offset, counted(step.bytes, "byte"), what,
                     shown(step.why, terminal));
}

void printReport(const RepairArguments& arguments, const RepairReport& report) {
  const Terminal terminal = terminalAt(STDOUT_FILENO);
  fmt::print("{}: {} kept, {} left out", shown(arguments.file, terminal),
             counted(report.recordsKept, "record"), counted(report.bytesLeftOut, "byte"));
  if (report.tagsRestored > 0) {
    fmt::print(", metadata of {} restored", counted(report.tagsRestored, "tag"));
  }
  fmt::print("\n");
  for (const RepairStep& step : report.steps) {
    fmt::print("{}", stepLine(step, terminal));
  }
  if (report.moreSteps > 0) {
    fmt::print("  and {} that are not listed\n", counted(report.moreSteps, "place"));
  }
  for (const std::string& tag : report.tagsWithoutMetadata) {
    fmt::print("  '{}': metadata lost, so TensorBoard does not show the tag\n",
               shown(tag, terminal));
  }
  if (!arguments.inPlace) {
    fmt::print("written: {}\n", shown(arguments.output, terminal));
  } else if (report.isUnchanged()) {
    fmt::print("nothing to repair\n");
  } else {
    fmt::print("original: {}\n", shown(report.original, terminal));
  }
}

void printJson(const RepairArguments& arguments, const RepairReport& report) {
  std::vector<std::string> steps;
  for (const RepairStep& step : report.steps) {
    const bool isLeftOut = step.kind == RepairStep::Kind::kLeftOut;
    steps.push_back(JsonObject()
                        .add("offset", jsonInteger(step.offset))
                        .add("bytes", jsonInteger(step.bytes))
                        .add("left_out", jsonBool(isLeftOut))
                        .add("tag", jsonString(step.tag))
                        .add("message", jsonString(step.why))
                        .toString());
  }
  fmt::print("{}\n",
             JsonObject()
                 .add("file", jsonString(arguments.file))
                 .add("output", jsonString(arguments.inPlace ? arguments.file : arguments.output))
                 .add("original", jsonString(report.original))
                 .add("records_kept", jsonInteger(report.recordsKept))
                 .add("bytes_kept", jsonInteger(report.bytesKept))
                 .add("bytes_left_out", jsonInteger(report.bytesLeftOut))
                 .add("tags_restored", jsonInteger(report.tagsRestored))
                 .add("tags_without_metadata", jsonStrings(report.tagsWithoutMetadata))
                 .add("steps", jsonArray(steps))
                 .add("more_steps", jsonInteger(report.moreSteps))
                 .toString());
}

int repair(const RepairArguments& arguments) {
  checkArguments(arguments);
  std::error_code unknown;
  const std::uintmax_t size = std::filesystem::file_size(arguments.file, unknown);
  Progress progress("repairing", unknown ? 0 : size);
  RepairOptions options;
  options.overwrite = arguments.force;
  options.onProgress = progress.part();
  RepairReport report;
  const Status status = arguments.inPlace
                            ? repairEventFileInPlace(arguments.file, options, &report)
                            : repairEventFile(arguments.file, arguments.output, options, &report);
  progress.clear();
  status.throwIfError();
  if (arguments.json) {
    printJson(arguments, report);
  } else {
    printReport(arguments, report);
  }
  return kExitFine;
}

}  // namespace

void addRepairCommand(CLI::App* app, int* exitCode) {
  CLI::App* command = app->add_subcommand(
      "repair", "Write a new event file with every intact record of a damaged one");
  const auto arguments = std::make_shared<RepairArguments>();
  CLI::Option* const file = command->add_option("FILE", arguments->file, "The damaged event file");
  file->required();
  expectFile(file, "event file");
  CLI::Option_group* target = command->add_option_group("target");
  target->add_option("--output", arguments->output, "The file to write; must not exist")
      ->type_name("FILE");
  target->add_flag(
      "--in-place", arguments->inPlace,
      "Replace the damaged file, and keep it next to the new one under a name that ends "
      "in '.damaged'");
  target->require_option(1);
  target->set_help_flag();  // the command has one
  command->add_flag("--force", arguments->force, "Let --output replace a file");
  command->add_flag("--json", arguments->json, "Print JSON for programs");
  command->footer(
      "Copies intact records byte for byte. Leaves out bytes that are not a whole record, and "
      "records that hold no event. An event whose wall time is not finite gets that of the "
      "previous event. A tag whose metadata was lost gets it back from other values of the tag in "
      "this file or in those next to it, or from the form of its values. The file appears once it "
      "is complete, or not at all.\n"
      "\n"
      "Exit codes: 0 written, or nothing to repair, 1 not written, 2 wrong arguments.\n"
      "\n"
      "Examples:\n"
      "  steptape repair damaged/events.out.tfevents.1 --output runs/demo/events.out.tfevents.1\n"
      "  steptape repair runs/demo/events.out.tfevents.1 --in-place");
  command->callback([arguments, exitCode] { *exitCode = repair(*arguments); });
}

}  // namespace steptape::tools
