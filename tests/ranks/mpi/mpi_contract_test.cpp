// SPDX-License-Identifier: Apache-2.0
// The guarantees of every communicator, on as many processes as the launcher has started.

#include <cstddef>

#include "steptape/ranks/mpi_communicator.h"

#include "process/spans/span_collector.h"
#include "ranks/communicator/collective_contract.h"

#include <gtest/gtest.h>

namespace steptape {
namespace {

using ContractOnMpi = ::testing::TestWithParam<test::ContractCase>;

TEST_P(ContractOnMpi, Holds) {
  MpiCommunicatorOptions options;
  options.timeout = std::chrono::seconds(30);
  options.useNodeMemory = false;
  MpiCommunicator world(MPI_COMM_WORLD, options);
  GetParam().check(world);
}

TEST_P(ContractOnMpi, HoldsInSharedMemory) {
  MpiCommunicatorOptions options;
  options.timeout = std::chrono::seconds(30);
  MpiCommunicator world(MPI_COMM_WORLD, options);
  GetParam().check(world);
}

TEST(Contract, HoldsWhileAProfilerRecords) {
  detail::process::SpanCollector collector(4096);
  collector.startRecording();
  MpiCommunicatorOptions options;
  options.timeout = std::chrono::seconds(30);
  MpiCommunicator world(MPI_COMM_WORLD, options);
  for (const test::ContractCase& contract : test::collectiveContract()) {
    contract.check(world);
  }
  std::size_t recorded = 0;
  collector.drain(
      [&](const detail::process::SpanBatch& batch) { recorded += batch.records.size(); });
  EXPECT_GT(recorded, test::collectiveContract().size());
}

/// Runs it with operations that take more than one MPI call.
void checkInPieces(const test::ContractCase& contract, std::size_t maxCount) {
  MpiCommunicatorOptions options;
  options.timeout = std::chrono::seconds(30);
  options.maxCount = maxCount;
  options.useNodeMemory = false;
  MpiCommunicator world(MPI_COMM_WORLD, options);
  contract.check(world);
}

using ReductionsInPieces = ::testing::TestWithParam<test::ContractCase>;
TEST_P(ReductionsInPieces, Hold) {
  checkInPieces(GetParam(), 4);
}

using ExchangesInPieces = ::testing::TestWithParam<test::ContractCase>;
TEST_P(ExchangesInPieces, Hold) {
  checkInPieces(GetParam(), 1000);
}

std::string nameOfCase(const ::testing::TestParamInfo<test::ContractCase>& tested) {
  return tested.param.name;
}

INSTANTIATE_TEST_SUITE_P(Communicator, ContractOnMpi,
                         ::testing::ValuesIn(test::collectiveContract()), &nameOfCase);
INSTANTIATE_TEST_SUITE_P(Communicator, ReductionsInPieces,
                         ::testing::ValuesIn(test::reductionContract()), &nameOfCase);
INSTANTIATE_TEST_SUITE_P(Communicator, ExchangesInPieces,
                         ::testing::ValuesIn(test::exchangeContract()), &nameOfCase);

}  // namespace
}  // namespace steptape
