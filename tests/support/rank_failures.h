// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "steptape/ranks/communicator.h"

#include <gtest/gtest.h>

namespace steptape::test {

/// Runs all tests on every rank of a job, in the same order. The root prints, and a failure on any
/// rank fails the test on all, with the rank's number.
class RankFailures final : public ::testing::EmptyTestEventListener {
 public:
  explicit RankFailures(std::shared_ptr<Communicator> world) : world_(std::move(world)) {}

  /// Sends the failures of each rank to all ranks. This also keeps the ranks in step: no rank
  /// starts a test before all have ended the previous one.
  void OnTestEnd(const ::testing::TestInfo& info) override {
    const std::vector<std::string> failuresByRank = world_->allgather(failuresOf(*info.result()));
    for (std::size_t rank = 0; rank < failuresByRank.size(); ++rank) {
      if (!failuresByRank[rank].empty() && static_cast<int>(rank) != world_->rank()) {
        ADD_FAILURE() << "rank " << rank << " of " << world_->size() << ":\n"
                      << failuresByRank[rank];
      }
    }
  }

  /// @return the exit code of the program.
  static int runAllTests(std::shared_ptr<Communicator> world) {
    ::testing::TestEventListeners& listeners = ::testing::UnitTest::GetInstance()->listeners();
    if (!world->isRoot()) {
      delete listeners.Release(listeners.default_result_printer());
      // Only the root writes report files.
      delete listeners.Release(listeners.default_xml_generator());
    }
    RankFailures failures(std::move(world));
    // Listeners receive a test's end in reverse order: this one before the printer.
    listeners.Append(&failures);
    const int result = RUN_ALL_TESTS();
    listeners.Release(&failures);
    return result;
  }

 private:
  static std::string failuresOf(const ::testing::TestResult& result) {
    std::string failures;
    for (int i = 0; i < result.total_part_count(); ++i) {
      const ::testing::TestPartResult& part = result.GetTestPartResult(i);
      if (part.failed()) {
        const std::string file = part.file_name() == nullptr ? "unknown file" : part.file_name();
        failures += file + ":" + std::to_string(part.line_number()) + ": " + part.message() + "\n";
      }
    }
    return failures;
  }

  std::shared_ptr<Communicator> world_;
};

}  // namespace steptape::test
