// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace steptape::tools {

/// A pipe that no other program inherits.
struct ReportPipe {
  /// @throws Error(kIoError) if there is none.
  ReportPipe();
  ReportPipe(const ReportPipe&) = delete;
  ReportPipe& operator=(const ReportPipe&) = delete;
  ~ReportPipe();
  void closeWriteEnd();
  /// Reads until all write ends are closed.
  std::string readAll() const;

  int readEnd = -1;
  int writeEnd = -1;
};

/// Returns the arguments as execvp() takes them; they point into `command`.
std::vector<char*> pointersTo(const std::vector<std::string>& command);

}  // namespace steptape::tools
