// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <unistd.h>
#include <vector>

#include "steptape/base/status.h"

#include "base/got_expected.h"
#include "tools/steptape/commands/commands.h"
#include "tools/steptape/jobs/launcher.h"
#include "tools/steptape/serving/data_server_program.h"

namespace steptape::tools {
namespace {

constexpr char kVariable[] = "TENSORBOARD_DATA_SERVER_BINARY";

/// Returns the path of a program beside this one.
std::string beside(const std::string& name) {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).replace_filename(name).string();
}

/// Finds TensorBoard: on PATH, or beside this program, where `pip install` puts both.
std::string findTensorBoard() {
  for (const std::string& place : {std::string("tensorboard"), beside("tensorboard")}) {
    if (std::string found = findProgram(place); !found.empty()) {
      return found;
    }
  }
  detail::base::reject("no tensorboard on PATH, nor as " + beside("tensorboard"),
                       "one: pip install tensorboard");
}

/// Becomes TensorBoard.
int becomeTensorBoard(std::vector<std::string> arguments) {
  const std::string server = beside(std::string(kDataServerName));
  if (findProgram(server).empty()) {
    detail::base::reject("no " + server, "the program that is installed with this one");
  }
  const std::string tensorBoard = findTensorBoard();
  ::setenv(kVariable, server.c_str(), /*overwrite=*/1);
  std::vector<char*> words{const_cast<char*>(tensorBoard.c_str())};
  for (std::string& argument : arguments) {
    words.push_back(argument.data());
  }
  words.push_back(nullptr);
  ::execv(tensorBoard.c_str(), words.data());
  throw Error(ErrorCode::kIoError,
              "cannot start " + tensorBoard + ": " + std::generic_category().message(errno));
}

}  // namespace

void addTensorBoardCommand(CLI::App* app, int* exitCode) {
  CLI::App* command =
      app->add_subcommand("tensorboard", "Start TensorBoard with Steptape's data server");
  command->prefix_command();
  command->footer(
      "Passes all arguments on to the tensorboard on PATH, or to the one that is installed beside "
      "this program, with TENSORBOARD_DATA_SERVER_BINARY set. TensorBoard's own help: tensorboard "
      "--help.\n"
      "\n"
      "Examples:\n"
      "  steptape tensorboard --logdir runs\n"
      "  steptape tensorboard --logdir runs --port 7000 --bind_all");
  command->callback([command, exitCode] { *exitCode = becomeTensorBoard(command->remaining()); });
}

}  // namespace steptape::tools
