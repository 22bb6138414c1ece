// SPDX-License-Identifier: Apache-2.0
// A program that a C compiler has built and linked: every kind of value is in its run.

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <sys/wait.h>

#include "steptape/c/steptape.h"
#include "steptape/ranks/testing.h"

#include "c/random_kills.h"
#include "metrics/read_back.h"
#include "support/own_black_boxes.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::IsSupersetOf;
using ::testing::Key;
using ::testing::Pair;
using ::testing::SizeIs;

class CProgramTest : public ::testing::Test {
 protected:
  std::string run() const { return logs_.string() + "/run"; }
  /// @return its wait status.
  int runProgram(const std::string& arguments = {}) const {
    return std::system(("exec '" STEPTAPE_C_PROGRAM "' '" + run() + "' " + arguments).c_str());
  }

  const test::OwnBlackBoxes boxes_;
  const testing::TempDir logs_;
};

TEST_F(CProgramTest, LogsEveryKindOfValue) {
  ASSERT_EQ(runProgram(), 0);
  const RunReader reader = test::readRun(listRuns(run()).at(0));
  EXPECT_THAT(reader.tags(),
              IsSupersetOf({Key("loss"), Key("accuracy"), Key("pair/a"), Key("weights"),
                            Key("image"), Key("tone"), Key("note"), Key("hparam/accuracy")}));
  const auto& loss = reader.tags().at("loss");
  EXPECT_THAT(loss.scalars.steps, SizeIs(100));
  EXPECT_EQ(loss.scalars.values.at(3), 0.25);
  EXPECT_EQ(loss.metadata.displayName, "Loss");
  EXPECT_THAT(test::readPoints(run(), "curves/sin").at("curves"), SizeIs(1));
}

TEST_F(CProgramTest, LosesNoScalarWhenItIsKilled) {
  const int status = runProgram("killed");
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  steptape_writer* next = nullptr;
  ASSERT_EQ(steptape_open(run().c_str(), nullptr, &next), STEPTAPE_OK);
  EXPECT_EQ(steptape_close(next), STEPTAPE_OK);
  const auto points = test::readPoints(run());
  EXPECT_THAT(points.at("loss"), SizeIs(100));
  EXPECT_THAT(points.at("accuracy"), SizeIs(100));
}

TEST_F(CProgramTest, LosesAndDoublesNothingWhenItIsKilledAtAnyMoment) {
  test::killAtRandomMoments(STEPTAPE_C_PROGRAM, logs_.string());
}

}  // namespace
}  // namespace steptape
