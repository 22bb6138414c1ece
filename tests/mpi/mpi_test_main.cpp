// SPDX-License-Identifier: Apache-2.0
// main() of all tests under mpiexec: every rank runs the same tests in the same order, the root
// prints, and a failure on any rank fails the test on all, with the rank's number.

#include <chrono>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "steptape/mpi/environment.h"
#include "steptape/mpi/mpi_communicator.h"

#include <gtest/gtest.h>

namespace {

/// Sends the failures of each rank to all ranks when a test ends. This also keeps the ranks in
/// step: no rank starts a test before all have ended the previous one.
class RankFailures final : public ::testing::EmptyTestEventListener {
 public:
  void OnTestEnd(const ::testing::TestInfo& info) override {
    const std::vector<std::string> failuresByRank = world_.allgather(failuresOf(*info.result()));
    for (std::size_t rank = 0; rank < failuresByRank.size(); ++rank) {
      if (!failuresByRank[rank].empty() && static_cast<int>(rank) != world_.rank()) {
        ADD_FAILURE() << "rank " << rank << " of " << world_.size() << ":\n"
                      << failuresByRank[rank];
      }
    }
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

  static steptape::MpiCommunicatorOptions boundedOptions() {
    steptape::MpiCommunicatorOptions options;
    options.timeout = std::chrono::seconds(60);
    return options;
  }

  steptape::MpiCommunicator world_{MPI_COMM_WORLD, boundedOptions()};
};

int runOnAllRanks() {
  ::testing::TestEventListeners& listeners = ::testing::UnitTest::GetInstance()->listeners();
  auto failures = std::make_unique<RankFailures>();
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) {
    delete listeners.Release(listeners.default_result_printer());
    // Only the root writes report files.
    delete listeners.Release(listeners.default_xml_generator());
  }
  // Listeners receive a test's end in reverse order: this one before the printer.
  listeners.Append(failures.get());
  const int result = RUN_ALL_TESTS();
  // Its communicator must be destroyed before MPI is finalized.
  listeners.Release(failures.get());
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  steptape::mpi::Environment environment(argc, argv);
  ::testing::InitGoogleTest(&argc, argv);
  try {
    return runOnAllRanks();
  } catch (const std::exception& error) {
    // Out of step with the other ranks: only ending the whole job is left.
    std::cerr << "the test program ends: " << error.what() << std::endl;
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}
