// SPDX-License-Identifier: Apache-2.0
// A program that links the libraries of C++, and libsteptape_c with a copy of its own of them.

#include <chrono>
#include <cstdlib>
#include <string>
#include <unistd.h>

#include "steptape/c/steptape.h"
#include "steptape/log/summary_writer.h"
#include "steptape/ranks/testing.h"

#include "metrics/read_back.h"
#include "support/own_black_boxes.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class TwoCopiesTest : public ::testing::Test {
 protected:
  std::string run() const { return logs_.string() + "/run"; }

  const test::OwnBlackBoxes boxes_;
  const testing::TempDir logs_;
};

TEST_F(TwoCopiesTest, DoNotWriteOneRunUnawares) {
  SummaryWriter first(run());
  steptape_writer* second = nullptr;
  EXPECT_EQ(steptape_open(run().c_str(), nullptr, &second), STEPTAPE_FAILED_PRECONDITION);
  EXPECT_THAT(steptape_error_message(), HasSubstr("process " + std::to_string(getpid())));
}

TEST_F(TwoCopiesTest, TakeEachOthersValuesForThoseOfALivingProcess) {
  WriterOptions options;
  options.occupied = OccupiedRun::kShare;
  options.flushPeriod = std::chrono::hours(1);
  SummaryWriter first(run(), options);
  first.addScalar("a", 1, 1);
  steptape_open_options shared = STEPTAPE_OPEN_OPTIONS_INIT;
  shared.occupied = STEPTAPE_OCCUPIED_SHARE;
  shared.flush_milliseconds = 3600 * 1000;
  steptape_writer* second = nullptr;
  ASSERT_EQ(steptape_open(run().c_str(), &shared, &second), STEPTAPE_OK);
  ASSERT_EQ(steptape_add_scalar(second, "b", 2, 2), STEPTAPE_OK);
  // It would recover what dead processes have left.
  ASSERT_EQ(std::system(("exec '" STEPTAPE_C_PROGRAM "' '" + run() + "' beside").c_str()), 0);
  EXPECT_TRUE(first.close().ok());
  EXPECT_EQ(steptape_close(second), STEPTAPE_OK);
  EXPECT_THAT(test::readPoints(run()), UnorderedElementsAre(Pair("a", ElementsAre(Pair(1, 1.0F))),
                                                            Pair("b", ElementsAre(Pair(2, 2.0F)))));
}

}  // namespace
}  // namespace steptape
