// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <sys/stat.h>
#include <vector>

#include "steptape/base/status.h"

#include "base/host_name.h"
#include "storage/s3/bucket_url.h"
#include "tools/steptape/commands/commands.h"
#include "tools/steptape/exit_code.h"
#include "tools/steptape/serving/data_server.h"
#include "tools/steptape/terminal/screen_text.h"
#include "tools/steptape/terminal/standard_streams.h"
#include "tools/steptape/terminal/terminal.h"

namespace steptape::tools {
namespace {

using steptape::detail::server::NamedDirectory;
using steptape::detail::server::SampleLimits;

struct ServeOptions {
  std::vector<std::string> directories;
  std::string host = "localhost";
  std::uint16_t port = 6806;
  std::string reload = "5";
  std::string samples;
  bool verbose = false;
};

bool exists(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0;
}

/// Takes a directory apart: NAME=DIRECTORY, unless there is a directory of the whole name.
/// @param isOne Whether it is the only one, whose runs then keep their names.
NamedDirectory directoryOf(const std::string& text, bool isOne) {
  const std::size_t equals = text.find('=');
  if (equals != std::string::npos && equals > 0 && !exists(text)) {
    return {text.substr(0, equals), text.substr(equals + 1)};
  }
  return {isOne ? "" : text, text};
}

/// Says what is served, and how TensorBoard gets at it.
void introduce(const ServeOptions& options, const std::vector<NamedDirectory>& directories,
               std::uint16_t port) {
  const Terminal terminal = terminalAt(STDOUT_FILENO);
  for (const NamedDirectory& directory : directories) {
    fmt::print("serving {}{}\n", shown(directory.path, terminal),
               directory.name.empty() || directory.name == directory.path
                   ? ""
                   : " as " + shown(directory.name, terminal));
  }
  fmt::print("here: tensorboard --grpc_data_provider=localhost:{}\n", port);
  // TensorBoard connects to its own machine only.
  fmt::print("from another machine: ssh -N -L {0}:localhost:{0} {1}, and there the same command\n",
             port, steptape::detail::base::hostName());
  if (options.host != "localhost") {
    fmt::print("listening on {}, for whoever can reach it, without encryption\n", options.host);
  }
  std::fflush(stdout);
}

int serve(const ServeOptions& options) {
  DataServerOptions server;
  for (const std::string& text : options.directories) {
    server.store.directories.push_back(directoryOf(text, options.directories.size() == 1));
    if (const std::string& path = server.store.directories.back().path;
        !exists(path) && !steptape::detail::storage::isBucketUrl(path)) {
      printMessage("note: there is no " + path + " yet; waiting");
    }
  }
  server.store.reload = reloadPeriod(options.reload);
  server.store.threads = readingThreads();
  if (options.verbose) {
    server.store.report = [](const std::string& line) { printMessage(line); };
  }
  server.listen.host = options.host;
  server.listen.port = options.port;
  server.limits = SampleLimits::parse(options.samples);
  runDataServer(server,
                [&](std::uint16_t port) { introduce(options, server.store.directories, port); });
  return kExitFine;
}

}  // namespace

void addServeCommand(CLI::App* app, int* exitCode) {
  CLI::App* command = app->add_subcommand(
      "serve", "Serve log directories to TensorBoard, on this or another machine");
  const auto options = std::make_shared<ServeOptions>();
  command
      ->add_option("directory", options->directories,
                   "Log directories, or s3://BUCKET/PREFIX; NAME=DIRECTORY puts NAME/ before the "
                   "names of its runs")
      ->required()
      ->type_name("[NAME=]DIRECTORY");
  command
      ->add_option("--host", options->host,
                   "The address to listen on: localhost, or for example 0.0.0.0")
      ->type_name("ADDRESS")
      ->capture_default_str();
  command->add_option("--port", options->port, "The port to listen on; 0: a free one")
      ->type_name("PORT")
      ->capture_default_str();
  command
      ->add_option(
          "--reload", options->reload,
          "Time between two looks at buckets, and at file systems that do not tell of changes, "
          "such as NFS")
      ->type_name("SECONDS")
      ->capture_default_str();
  command
      ->add_option("--samples-per-plugin", options->samples,
                   "The most points of a tag that a page gets, such as scalars=5000,images=all")
      ->type_name("PLUGIN=COUNT,...");
  command->add_flag("--verbose", options->verbose, "Say what cannot be read, and what is polled");
  command->footer(
      "Serves until Ctrl-C. It keeps all points; a page gets at most 1000 scalars, 100 "
      "histograms or texts, and 10 images of a tag, unless --samples-per-plugin says more, here "
      "and to tensorboard. The program steptape-data-server does the same for one directory, with "
      "the flags by which tensorboard starts its data server: see 'steptape tensorboard'.\n"
      "\n"
      "Examples:\n"
      "  steptape serve runs\n"
      "  steptape serve baseline=/data/a resnet=/data/b --port 7000\n"
      "  steptape serve s3://bucket/runs\n"
      "  tensorboard --grpc_data_provider=localhost:6806");
  command->callback([options, exitCode] {
    try {
      *exitCode = serve(*options);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kInvalidArgument) {
        throw;
      }
      printMessage(std::string("steptape serve: ") + error.what());
      *exitCode = kExitUsage;
    }
  });
}

}  // namespace steptape::tools
