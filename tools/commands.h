// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace CLI {
class App;
}

namespace steptape::tools {

// Each adds its command to `app`. When the command is called, its exit code goes to `*exitCode`.
void addInspectCommand(CLI::App* app, int* exitCode);
void addExportCommand(CLI::App* app, int* exitCode);

}  // namespace steptape::tools
