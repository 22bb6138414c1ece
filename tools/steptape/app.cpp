// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/app.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <new>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

#include "steptape/base/version.h"

#include "tools/steptape/commands/commands.h"
#include "tools/steptape/exit_code.h"
#include "tools/steptape/help/closest_name.h"
#include "tools/steptape/help/help_text.h"
#include "tools/steptape/hosts/host_answer.h"
#include "tools/steptape/jobs/program_words.h"
#include "tools/steptape/projects/cmake_directory.h"
#include "tools/steptape/runs/bucket_copies.h"
#include "tools/steptape/serving/data_server_program.h"
#include "tools/steptape/terminal/screen_text.h"
#include "tools/steptape/terminal/standard_streams.h"
#include "tools/steptape/terminal/terminal.h"

namespace steptape::tools {
namespace {

constexpr char kFooter[] =
    "Examples:\n"
    "  steptape inspect runs\n"
    "  steptape plot runs --tag loss\n"
    "  steptape export runs --format csv --output scalars.csv\n"
    "  steptape check runs && echo fine\n"
    "  steptape profile runs/demo\n"
    "  steptape new heat --mpi\n"
    "  steptape inspect --help";

std::vector<std::string> commandNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) {
    names.push_back(command->get_name());
  }
  return names;
}

/// Returns why `word` is not a command; empty if it is one, or an option.
std::string commandProblem(const CLI::App& app, const std::string& word) {
  const std::vector<std::string> names = commandNames(app);
  for (const std::string& name : names) {
    if (word == name) {
      return "";
    }
  }
  if (word.empty() || word.front() == '-') {
    return "";
  }
  const std::string closest = closestName(word, names);
  return fmt::format(
      "got the unknown command \"{}\"; expected {}", word,
      closest.empty() ? fmt::format("one of {}", fmt::join(names, ", ")) : '"' + closest + '"');
}

/// Returns the message for wrong arguments, which may quote any name.
std::string usageMessage(const CLI::App* /*app*/, const CLI::Error& error) {
  return shown(error.what(), terminalAt(STDERR_FILENO)) +
         "\nRun with --help for more information.\n";
}

}  // namespace

std::unique_ptr<CLI::App> makeApp(int* exitCode) {
  auto app =
      std::make_unique<CLI::App>("Reads TensorBoard event files and profiler traces", "steptape");
  // Set before the commands are added, which inherit it.
  app->formatter(std::make_shared<HelpFormatter>());
  app->set_version_flag("--version", "steptape " STEPTAPE_VERSION, "Print the version and exit");
  app->set_help_flag("-h,--help", "Print this help and exit");
  app->add_flag_callback(
      "--cmakedir", [] { throw CLI::CallForVersion(cmakeDirectory(), 0); },
      "Print the directory for find_package(steptape) in CMake and exit");
  app->failure_message(usageMessage);
  app->require_subcommand(1);
  app->footer(kFooter);
  addInspectCommand(app.get(), exitCode);
  addRunsCommand(app.get(), exitCode);
  addExportCommand(app.get(), exitCode);
  addCheckCommand(app.get(), exitCode);
  addRepairCommand(app.get(), exitCode);
  addRecoverCommand(app.get(), exitCode);
  addTailCommand(app.get(), exitCode);
  addTopCommand(app.get(), exitCode);
  addDumpCommand(app.get(), exitCode);
  addAutopsyCommand(app.get(), exitCode);
  addPlotCommand(app.get(), exitCode);
  addDiffCommand(app.get(), exitCode);
  addAggregateCommand(app.get(), exitCode);
  addRewriteCommand(app.get(), exitCode);
  addProfileCommand(app.get(), exitCode);
  addMergeTracesCommand(app.get(), exitCode);
  addSyncCommand(app.get(), exitCode);
  addRunCommand(app.get(), exitCode);
  addNewCommand(app.get(), exitCode);
#ifdef STEPTAPE_HAVE_SERVER
  addServeCommand(app.get(), exitCode);
  addTensorBoardCommand(app.get(), exitCode);
#endif
  addMcpCommand(app.get(), exitCode);
  addCompletionCommand(app.get(), exitCode);
  // Last: it describes the commands above.
  addManCommand(app.get(), exitCode);
  return app;
}

int runApp(int argc, const char* const* argv) {
  if (argc > 1 && std::string_view(argv[1]) == kAnswerCommand) {
    return answerAskingHost({argv + 2, argv + argc});
  }
  int exitCode = kExitFine;
  const std::unique_ptr<CLI::App> app = makeApp(&exitCode);
  if (argc > 1) {
    if (const std::string problem = commandProblem(*app, argv[1]); !problem.empty()) {
      printMessage("steptape: " + problem);
      return kExitUsage;
    }
  }
  try {
    std::vector<std::string> words = withMarkedProgram({argv + std::min(argc, 1), argv + argc});
    std::reverse(words.begin(), words.end());  // the order of this form of parse()
    app->parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    // --help and --version come here too, as errors with exit code 0.
    return app->exit(error) == 0 ? kExitFine : kExitUsage;
  }
  return exitCode;
}

namespace {

int runAndReport(int argc, const char* const* argv) {
  try {
    holdStandardStreams();
#ifdef STEPTAPE_HAVE_SERVER
    if (argc > 0 && isDataServer(argv[0])) {
      return runDataServerProgram(argc, argv);
    }
#endif
    const int exitCode = runApp(argc, argv);
    flushOutput();
    return exitCode;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    printMessage("steptape: " + shownPathOf(error.what()));
    return kExitProblem;
  }
}

void reportOutOfMemory() noexcept {
  std::fputs("steptape: out of memory\n", stderr);
}

/// The terminate handler.
[[noreturn]] void exitOutOfMemory() {
  try {
    if (const std::exception_ptr error = std::current_exception()) {
      std::rethrow_exception(error);
    }
  } catch (const std::bad_alloc&) {
    reportOutOfMemory();
    std::_Exit(kExitProblem);
  } catch (...) {
  }
  std::abort();
}

}  // namespace

int runTool(int argc, const char* const* argv) noexcept {
  // CLI11 copies texts in functions that are noexcept.
  std::set_terminate(&exitOutOfMemory);
  try {
    return runAndReport(argc, argv);
  } catch (const std::bad_alloc&) {
    reportOutOfMemory();
    return kExitProblem;
  }
}

}  // namespace steptape::tools
