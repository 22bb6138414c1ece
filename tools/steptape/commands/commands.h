// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace CLI {
class App;
}

namespace steptape::tools {

// Each function adds its command to `app`. When the command is called, it sets `*exitCode`.
// makeApp() calls all functions.
void addInspectCommand(CLI::App* app, int* exitCode);
void addRunsCommand(CLI::App* app, int* exitCode);
void addExportCommand(CLI::App* app, int* exitCode);
void addAggregateCommand(CLI::App* app, int* exitCode);
void addCheckCommand(CLI::App* app, int* exitCode);
void addRepairCommand(CLI::App* app, int* exitCode);
void addRecoverCommand(CLI::App* app, int* exitCode);
void addCompletionCommand(CLI::App* app, int* exitCode);
void addManCommand(CLI::App* app, int* exitCode);
void addAutopsyCommand(CLI::App* app, int* exitCode);
void addDumpCommand(CLI::App* app, int* exitCode);
void addTopCommand(CLI::App* app, int* exitCode);
void addTailCommand(CLI::App* app, int* exitCode);
void addPlotCommand(CLI::App* app, int* exitCode);
void addDiffCommand(CLI::App* app, int* exitCode);
void addRewriteCommand(CLI::App* app, int* exitCode);
void addProfileCommand(CLI::App* app, int* exitCode);
void addMergeTracesCommand(CLI::App* app, int* exitCode);
void addSyncCommand(CLI::App* app, int* exitCode);
void addRunCommand(CLI::App* app, int* exitCode);
void addNewCommand(CLI::App* app, int* exitCode);
void addMcpCommand(CLI::App* app, int* exitCode);
// Where there is the data server; see tools/steptape/serving.
void addServeCommand(CLI::App* app, int* exitCode);
void addTensorBoardCommand(CLI::App* app, int* exitCode);

}  // namespace steptape::tools
