// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <exception>
#include <fmt/core.h>

#include "steptape/base/version.h"

#include "tools/commands.h"
#include "tools/exit_code.h"

namespace {

constexpr char kFooter[] =
    "Exit codes: 0 fine, 1 found a problem in the files, 2 used wrongly.\n"
    "\n"
    "Examples:\n"
    "  steptape inspect runs\n"
    "  steptape export runs/demo --format json --output scalars.json\n"
    "  steptape inspect --help";

int run(int argc, char** argv) {
  int exitCode = steptape::tools::kExitFine;
  CLI::App app("Looks into TensorBoard event files.", "steptape");
  app.set_version_flag("--version", "steptape " STEPTAPE_VERSION);
  app.require_subcommand(1);
  app.footer(kFooter);
  steptape::tools::addInspectCommand(&app, &exitCode);
  steptape::tools::addExportCommand(&app, &exitCode);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // --help and --version come here too, as errors with exit code 0.
    return app.exit(error) == 0 ? steptape::tools::kExitFine : steptape::tools::kExitUsage;
  }
  return exitCode;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "steptape: {}\n", error.what());
    return steptape::tools::kExitProblem;
  }
}
