// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steptape/ranks/testing.h"

#include "support/job.h"
#include "support/own_black_boxes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::test {

/// Starts `fault_program train` under mpiexec, with a directory for its files.
class TrainingJob {
 public:
  /// @param arguments   As Arguments.
  /// @param environment Of mpiexec: `NAME=value ...`.
  JobEnd run(int ranks, const std::string& arguments, const std::string& environment = "") const {
    return runJob("env " + environment + " " STEPTAPE_MPIEXEC " -n " + std::to_string(ranks) +
                  " '" STEPTAPE_FAULT_PROGRAM "' train dir=" + directory_.string() + " " +
                  arguments);
  }

  /// Like run(), but must succeed.
  /// @return the line with the parameters at the end.
  std::string parametersAfter(int ranks, const std::string& arguments) const {
    const JobEnd job = run(ranks, arguments);
    EXPECT_EQ(job.exitCode, 0) << job.output;
    return parametersOf(job);
  }

  static std::string parametersOf(const JobEnd& job) {
    const std::size_t begin = job.output.find("parameters:");
    EXPECT_NE(begin, std::string::npos) << job.output;
    return begin == std::string::npos
               ? ""
               : job.output.substr(begin, job.output.find('\n', begin) - begin);
  }

  /// Expects that the tool finds no problem in any event file.
  void expectWholeEventFiles() const {
    const JobEnd check = runJob("'" STEPTAPE_TOOL "' check " + directory_.string() + "/run");
    EXPECT_EQ(check.exitCode, 0) << check.output;
  }

  std::string directory() const { return directory_.string(); }

 private:
  OwnBlackBoxes boxes_;
  testing::TempDir directory_;
};

}  // namespace steptape::test
