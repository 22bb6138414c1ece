// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <ostream>
#include <string>
#include <sys/wait.h>

#include "log/reader/log_dir_fixture.h"

#include <gmock/gmock.h>

namespace steptape {

/// Runs `steptape` in the test's own directory, so that outputs contain short relative paths.
class ToolFixture : public LogDirFixture {
 protected:
  struct Outcome {
    int exitCode;
    std::string out;
    std::string error;

    friend void PrintTo(const Outcome& outcome, std::ostream* out) {
      *out << "exit code " << outcome.exitCode << ", output \"" << outcome.out << "\" and errors \""
           << outcome.error << '"';
    }
  };

  Outcome steptape(const std::string& arguments) const {
    return run("'" STEPTAPE_TOOL "' " + arguments);
  }

  /// Runs any other program, with the tested `steptape` on its PATH.
  Outcome run(const std::string& program) const {
    const std::string command = "cd '" + root_ +
                                "' && PATH=\"$(dirname '" STEPTAPE_TOOL "'):$PATH\" timeout 30 " +
                                program + " >'" + path("stdout") + "' 2>'" + path("stderr") + "'";
    const int status = std::system(command.c_str());
    EXPECT_TRUE(WIFEXITED(status)) << command;
    return {WEXITSTATUS(status), contentOf("stdout"), contentOf("stderr")};
  }

  /// Returns two points of "loss" and one of "accuracy".
  static std::string smallFile() {
    return framed({simpleScalar("loss", 0.5F, 1), simpleScalar("loss", 0.25F, 20),
                   simpleScalar("accuracy", 1, 20)});
  }
  /// Returns smallFile() with its last record damaged.
  static std::string damagedFile() {
    std::string bytes = smallFile();
    bytes.back() = static_cast<char>(~bytes.back());
    return bytes;
  }
};

/// A program that exits with this code and prints this on its standard error.
MATCHER_P2(Exits, exitCode, error, "") {
  return arg.exitCode == exitCode && ::testing::Matches(error)(arg.error);
}

/// A program that succeeds and prints this.
MATCHER_P(Prints, out, "") {
  return arg.exitCode == 0 && ::testing::Matches(out)(arg.out);
}

}  // namespace steptape
