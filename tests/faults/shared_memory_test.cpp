// SPDX-License-Identifier: Apache-2.0
// Training gives the same result without space for shared memory, and on several nodes.

#include <cmath>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "faults/training_job.h"

namespace steptape::test {
namespace {

using ::testing::HasSubstr;

std::vector<float> numbersIn(const std::string& line) {
  std::istringstream text(line.substr(line.find(':') + 1));
  std::vector<float> numbers;
  for (float number = 0; text >> number;) {
    numbers.push_back(number);
  }
  return numbers;
}

void expectNear(const std::string& got, const std::string& wanted) {
  const std::vector<float> numbers = numbersIn(got);
  const std::vector<float> wantedNumbers = numbersIn(wanted);
  ASSERT_EQ(numbers.size(), 23U) << got;  // 4 * 3 + 3 and 3 * 2 + 2.
  ASSERT_EQ(wantedNumbers.size(), numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    EXPECT_NEAR(numbers[i], wantedNumbers[i], 1e-5 * (1 + std::abs(wantedNumbers[i])));
  }
}

std::size_t countOf(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

class SharedMemory : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, SharedMemory, ::testing::Values("gradients", "fit"));

TEST_P(SharedMemory, ThatOneRankLacksGivesWayToMessagesWhichIsSaidOnce) {
  const std::string how = std::string("how=") + GetParam();
  const std::string wanted = TrainingJob().parametersAfter(2, how);
  // The first rank creates the memory, the others open it.
  for (const auto& [rank, why] :
       {std::pair{"0", "ftruncate of [0-9]* bytes of shared memory: File too large"},
        std::pair{"1", "shm_open of [0-9]* bytes of shared memory: Too many open files"}}) {
    const JobEnd end = TrainingJob().run(2, how + " lacksMemory=" + rank);
    EXPECT_EQ(end.exitCode, 0) << end.output;
    EXPECT_THAT(end.output, ::testing::ContainsRegex(
                                std::string("no shared memory: allocateNodeMemory: rank ") + rank +
                                " \\([^)]*\\): " + why));
    EXPECT_EQ(countOf(end.output, "gradients travel as messages"), 1U) << end.output;
    expectNear(TrainingJob::parametersOf(end), wanted);
  }
}

TEST_P(SharedMemory, OfTwoNodesGivesTheParametersOfOne) {
  const std::string how = std::string("how=") + GetParam();
  const std::string wanted = TrainingJob().parametersAfter(4, how);
  expectNear(TrainingJob().parametersAfter(4, how + " ranksPerNode=2"), wanted);
  expectNear(TrainingJob().parametersAfter(4, how + " ranksPerNode=3"), wanted);
}

TEST(TwoNodes, ShareMemoryEach) {
  const JobEnd end = TrainingJob().run(4, "how=gradients ranksPerNode=2");
  EXPECT_THAT(end.output, HasSubstr("shared memory, 4 ranks on 2 nodes, parameters shared"));
}

}  // namespace
}  // namespace steptape::test
