// SPDX-License-Identifier: Apache-2.0
#include "steptape/log/export.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/core.h>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "tools/steptape/columnar/column_file.h"
#include "tools/steptape/commands/commands.h"
#include "tools/steptape/exit_code.h"
#include "tools/steptape/help/value_check.h"
#include "tools/steptape/runs/log_paths.h"
#include "tools/steptape/runs/name_filter.h"
#include "tools/steptape/terminal/output_file.h"
#include "tools/steptape/terminal/progress.h"
#include "tools/steptape/terminal/standard_streams.h"

namespace steptape::tools {
namespace {

struct ExportArguments {
  std::vector<std::string> paths;
  NameFilter filter;
  std::string format = "json";
  std::string layout = "wide";
  std::string output;
  bool all = false;
  ExportOptions options;
  const CLI::Option* layoutOption = nullptr;
};

bool isColumnar(const std::string& format) {
  return format == "parquet" || format == "arrow";
}

bool isOnScreen(const ExportArguments& arguments) {
  return arguments.output.empty() && isatty(STDOUT_FILENO) != 0;
}

void checkArguments(const ExportArguments& arguments) {
  const std::optional<std::int64_t> from = arguments.options.fromStep;
  const std::optional<std::int64_t> to = arguments.options.toStep;
  if (from && to && *from > *to) {
    throw CLI::ValidationError(
        "--from", fmt::format("got {}; expected at most --to, which is {}", *from, *to));
  }
  if (arguments.layoutOption->count() > 0 && arguments.format != "csv" &&
      !isColumnar(arguments.format)) {
    throw CLI::ValidationError("--layout", "only for --format csv, parquet and arrow");
  }
  if (!arguments.options.mediaDirectory.empty() && arguments.format != "jsonl") {
    throw CLI::ValidationError("--media", "only for --format jsonl");
  }
  if (isColumnar(arguments.format) && isOnScreen(arguments)) {
    throw CLI::ValidationError(
        "--output",
        "got none; expected a file, because a terminal cannot show --format " + arguments.format);
  }
}

ExportResult exportColumns(const ExportSink& sink, const std::vector<RunFiles>& runs,
                           const std::string& format, const ExportOptions& options) {
  ColumnFile file(format, sink);
  ExportResult result = exportCsv(runs, options, [&](std::string_view csv) { file.write(csv); });
  file.finish();
  return result;
}

ExportResult exportTo(const ExportSink& sink, const std::vector<RunFiles>& runs,
                      const ExportArguments& arguments, const ExportOptions& options) {
  if (isColumnar(arguments.format)) {
    return exportColumns(sink, runs, arguments.format, options);
  }
  if (arguments.format == "jsonl") {
    return exportJsonl(runs, options, sink);
  }
  return arguments.format == "csv" ? exportCsv(runs, options, sink)
                                   : exportJson(runs, options, sink);
}

int exportRuns(const ExportArguments& arguments) {
  std::vector<Damage> unreadable;
  const std::vector<RunFiles> runs =
      selectRuns(runsOf(arguments.paths, &unreadable), arguments.filter.run);
  Progress progress("exporting", 2 * totalBytes(runs));  // everything is read twice
  OutputFile output(arguments.output);
  ExportOptions options = arguments.options;
  options.purge = arguments.all ? PurgePolicy::kNone : PurgePolicy::kRestarts;
  options.csvLayout = arguments.layout == "long"         ? CsvLayout::kLong
                      : arguments.layout == "histograms" ? CsvLayout::kHistograms
                                                         : CsvLayout::kWide;
  options.wantsTag = [&](std::string_view tag) { return arguments.filter.tag.isFoundIn(tag); };
  if (!isOnScreen(arguments)) {
    options.onProgress = [&](std::uint64_t bytes) { progress.set(bytes); };
  }
  if (!arguments.output.empty()) {
    options.temporaryPrefix = arguments.output + ".spool";  // on the disk of the output
  }
  const ExportResult result =
      exportTo([&](std::string_view text) { output.write(text); }, runs, arguments, options);
  output.finish();
  progress.clear();
  printNotes(result.notes);
  if (result.values == 0) {
    printMessage("note: nothing to export");
  }
  return std::max(reportProblems(unreadable), reportProblems(result.damage));
}

}  // namespace

void addExportCommand(CLI::App* app, int* exitCode) {
  CLI::App* command = app->add_subcommand("export", "Write runs in a format for other programs");
  const auto arguments = std::make_shared<ExportArguments>();
  addPathsArgument(command, &arguments->paths);
  command
      ->add_option("--format", arguments->format,
                   "json: scalars by curve; jsonl: everything, an object a line; csv, parquet, "
                   "arrow: scalars as a table, the last two by a Python with pyarrow")
      ->check(oneOf({"json", "jsonl", "csv", "parquet", "arrow"}))
      ->capture_default_str();
  command
      ->add_option("--output", arguments->output,
                   "The file to write, which appears once it is complete; standard output if not "
                   "given")
      ->type_name("FILE");
  addFilterOptions(command, &arguments->filter);
  command->add_option("--from", arguments->options.fromStep, "Only this step and later ones")
      ->type_name("STEP");
  command->add_option("--to", arguments->options.toStep, "Only this step and earlier ones")
      ->type_name("STEP");
  arguments->layoutOption =
      command
          ->add_option("--layout", arguments->layout,
                       "Of a table: a column for each tag (wide), a row for each point (long), or "
                       "histograms instead of scalars, with a row for each bucket")
          ->check(oneOf({"wide", "long", "histograms"}))
          ->capture_default_str();
  command
      ->add_option("--media", arguments->options.mediaDirectory,
                   "With jsonl: write images and audio to files in this directory")
      ->type_name("DIR");
  command->add_flag("--all", arguments->all, "Also export points that a restart overwrote");
  command->footer(
      "json is {\"<run directory>/<tag>\": [[wall time, step, value], ...]}, as tensorboardX "
      "writes it. In json and jsonl, NaN and infinities are the strings \"NaN\", \"Infinity\" and "
      "\"-Infinity\".\n"
      "\n"
      "Examples:\n"
      "  steptape export runs/demo --format json --output scalars.json\n"
      "  steptape export runs --format csv --tag '^loss/' --from 1000 --output loss.csv\n"
      "  steptape export runs --format jsonl --media pictures | jq -c 'select(.plugin == "
      "\"images\")'");
  command->callback([arguments, exitCode] {
    checkArguments(*arguments);
    *exitCode = exportRuns(*arguments);
  });
}

}  // namespace steptape::tools
