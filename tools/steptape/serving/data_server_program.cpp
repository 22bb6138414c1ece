// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/serving/data_server_program.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fmt/format.h>
#include <string>
#include <utility>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/base/version.h"

#include "storage/s3/bucket_url.h"
#include "tools/steptape/exit_code.h"
#include "tools/steptape/serving/data_server.h"
#include "tools/steptape/terminal/terminal.h"

namespace steptape::tools {
namespace {

using steptape::detail::storage::isBucketUrl;

// @source tensorboard-data-server 0.7.2
constexpr int kExitBadLogDirectory = 8;
constexpr int kExitCannotListen = 9;

struct Flags {
  std::string logdir;
  std::string reload = "5";
  std::string samples;
  std::string host = "localhost";
  std::uint16_t port = 6806;
  std::string portFile;
  std::string errorFile;
  bool diesAfterStdin = false;
  int verbosity = 0;
};

/// Says why the program ends: on standard error, and where TensorBoard looks for it.
int fail(const Flags& flags, int exitCode, const std::string& reason) {
  printMessage(std::string(kDataServerName) + ": " + reason);
  if (!flags.errorFile.empty()) {
    if (std::FILE* const file = std::fopen(flags.errorFile.c_str(), "we")) {
      std::fputs((reason + "\n").c_str(), file);
      std::fclose(file);
    }
  }
  return exitCode;
}

void addOptions(CLI::App* app, Flags* flags) {
  app->set_version_flag("--version", std::string(kDataServerName) + " " STEPTAPE_VERSION);
  app->add_option("--logdir", flags->logdir, "The log directory to serve")->required();
  app->add_option("--reload", flags->reload,
                  "Seconds between two looks at a file system that does not tell of changes, or "
                  "'once': read everything once")
      ->capture_default_str();
  app->add_option("--samples-per-plugin", flags->samples,
                  "The most points of a tag, such as scalars=500,images=all");
  app->add_option("--host", flags->host, "The address to listen on")->capture_default_str();
  app->add_option("--port", flags->port, "The port to listen on; 0: a free one")
      ->capture_default_str();
  app->add_option("--port-file", flags->portFile, "Write the port to this file");
  app->add_flag("--die-after-stdin", flags->diesAfterStdin, "End when standard input ends");
  app->add_option("--error-file", flags->errorFile, "Write the reason of a failure to this file");
  app->add_flag("-v,--verbose", flags->verbosity, "Say what happens; twice: say more");
  // Checksums are always checked: that takes no time, and damage would be shown as data.
  app->add_flag("--checksum,!--no-checksum", "Accepted and ignored")->group("");
}

DataServerOptions optionsOf(const Flags& flags) {
  DataServerOptions options;
  options.store.directories = {{"", flags.logdir}};
  options.store.once = flags.reload == "once";
  if (!options.store.once) {
    options.store.reload = reloadPeriod(flags.reload);
  }
  options.store.threads = readingThreads();
  if (flags.verbosity > 0) {
    options.store.report = [](const std::string& line) {
      printMessage(std::string(kDataServerName) + ": " + line);
    };
  }
  options.listen.host = flags.host;
  options.listen.port = flags.port;
  options.listen.endsWithStdin = flags.diesAfterStdin;
  options.limits = steptape::detail::server::SampleLimits::parse(flags.samples);
  options.portFile = flags.portFile;
  return options;
}

/// Returns the arguments without options of an empty value. TensorBoard passes
/// `--samples-per-plugin=`; CLI11 would take the next argument for the value.
std::vector<std::string> withoutEmptyOptions(int argc, const char* const* argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  words.erase(std::remove_if(words.begin(), words.end(),
                             [](const std::string& word) {
                               return word.substr(0, 2) == "--" && word.back() == '=';
                             }),
              words.end());
  return words;
}

}  // namespace

bool isDataServer(const char* programPath) {
  const std::string_view path(programPath);
  return path.substr(path.rfind('/') + 1) == kDataServerName;
}

int runDataServerProgram(int argc, const char* const* argv) {
  Flags flags;
  CLI::App app("Serves a log directory to TensorBoard, which starts this program",
               std::string(kDataServerName));
  addOptions(&app, &flags);
  try {
    std::vector<std::string> words = withoutEmptyOptions(argc, argv);
    std::reverse(words.begin(), words.end());  // the order of this form of parse()
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    const bool isAnswer = error.get_exit_code() == 0;  // --help and --version
    return isAnswer ? app.exit(error) : fail(flags, kExitUsage, error.what());
  }
  DataServerOptions options;
  try {
    options = optionsOf(flags);
  } catch (const Error& error) {
    return fail(flags, kExitUsage, error.what());
  }
  if (flags.logdir.find("://") != std::string::npos && !isBucketUrl(flags.logdir)) {
    return fail(flags, kExitBadLogDirectory,
                "got the log directory " + flags.logdir +
                    "; expected a path on this machine, or s3://BUCKET/PREFIX");
  }
  try {
    runDataServer(options, {});
  } catch (const PortFileError& error) {
    return fail(flags, kExitProblem, error.what());
  } catch (const Error& error) {
    return fail(flags, kExitCannotListen, error.what());
  }
  return kExitFine;
}

}  // namespace steptape::tools
