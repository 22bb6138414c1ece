// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fmt/core.h>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "steptape/base/error.h"
#include "steptape/base/json.h"
#include "steptape/reader/scalar_series.h"

#include "tools/commands.h"
#include "tools/exit_code.h"
#include "tools/log_paths.h"

namespace steptape::tools {
namespace {

struct ExportOptions {
  std::vector<std::string> paths;
  std::string format = "json";
  std::string output;
};

/// A file, or standard output where no file is named, that says when it could not be written.
class Output {
 public:
  explicit Output(const std::string& path)
      : path_(path), file_(path.empty() ? stdout : std::fopen(path.c_str(), "wb")) {
    if (file_ == nullptr) {
      fail();
    }
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() {
    if (file_ != nullptr && file_ != stdout) {
      std::fclose(file_);
    }
  }

  void write(std::string_view bytes) {
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) {
      fail();
    }
  }
  /// Checks that everything has reached the system.
  void finish() {
    if (std::fflush(file_) != 0) {
      fail();
    }
  }

 private:
  [[noreturn]] void fail() const {
    throw Error(ErrorCode::kIoError, "cannot write " + (path_.empty() ? "the output" : path_) +
                                         ": " + std::generic_category().message(errno));
  }

  std::string path_;
  std::FILE* file_;
};

/// One curve as `"<run directory>/<tag>": [[wall time, step, value], ...]`.
std::string curve(const RunFiles& run, const std::string& tag,
                  const std::vector<ScalarPoint>& series) {
  std::string json;
  appendJsonString(&json, run.directory + "/" + tag);
  json += ": [";
  const char* separator = "";
  for (const ScalarPoint& point : series) {
    json += separator;
    json += '[';
    appendJsonNumber(&json, point.wallTime);
    json += fmt::format(", {}, ", point.step);
    appendJsonNumber(&json, double{point.value});
    json += ']';
    separator = ", ";
  }
  json += ']';
  return json;
}

int exportScalars(const ExportOptions& options) {
  int exitCode = kExitFine;
  const std::vector<RunFiles> runs = runsOf(options.paths);
  Output output(options.output);
  output.write("{");
  const char* separator = "\n";
  for (const RunFiles& run : runs) {
    const RunScalars result = readRunScalars(run);
    for (const auto& [tag, series] : result.scalars) {
      output.write(separator);
      output.write(curve(run, tag, series));
      separator = ",\n";
    }
    exitCode = std::max(exitCode, reportProblems(result.problems));
  }
  output.write("\n}\n");
  output.finish();
  return exitCode;
}

}  // namespace

void addExportCommand(CLI::App* app, int* exitCode) {
  CLI::App* command = app->add_subcommand("export", "Write the scalars of runs for other programs");
  const auto options = std::make_shared<ExportOptions>();
  addPathsArgument(command, &options->paths);
  command
      ->add_option("--format", options->format,
                   "json: {\"<run directory>/<tag>\": [[wall time, step, value], ...]}; NaN and "
                   "infinities are the strings \"NaN\", \"Infinity\" and \"-Infinity\"")
      ->check(CLI::IsMember({"json"}))
      ->capture_default_str();
  command->add_option("--output", options->output,
                      "The file to write; standard output if left out");
  command->footer(
      "Examples:\n"
      "  steptape export runs/demo --format json --output scalars.json\n"
      "  steptape export runs | jq keys");
  command->callback([options, exitCode] { *exitCode = exportScalars(*options); });
}

}  // namespace steptape::tools
