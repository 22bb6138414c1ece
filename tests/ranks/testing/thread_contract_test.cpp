// SPDX-License-Identifier: Apache-2.0
// The guarantees of every communicator, on 1, 2, 3 and 7 threads, and for a plain Communicator with
// one rank.

#include <cstddef>
#include <string>
#include <tuple>

#include "steptape/ranks/testing.h"

#include "process/spans/span_collector.h"
#include "ranks/communicator/collective_contract.h"

#include <gtest/gtest.h>

namespace steptape::testing {
namespace {

using ContractOnThreads = ::testing::TestWithParam<std::tuple<test::ContractCase, int>>;

TEST_P(ContractOnThreads, Holds) {
  const auto& [contract, ranks] = GetParam();
  runRanks(ranks, contract.check);
}

using ContractOfOneRank = ::testing::TestWithParam<test::ContractCase>;

TEST_P(ContractOfOneRank, Holds) {
  Communicator serial;
  GetParam().check(serial);
}

TEST(Contract, HoldsWhileAProfilerRecords) {
  detail::process::SpanCollector collector(4096);
  collector.startRecording();
  Communicator serial;
  for (const test::ContractCase& contract : test::collectiveContract()) {
    contract.check(serial);
    runRanks(3, contract.check);
  }
  std::size_t recorded = 0;
  collector.drain(
      [&](const detail::process::SpanBatch& batch) { recorded += batch.records.size(); });
  EXPECT_GT(recorded, test::collectiveContract().size());
}

INSTANTIATE_TEST_SUITE_P(Communicator, ContractOfOneRank,
                         ::testing::ValuesIn(test::collectiveContract()),
                         [](const auto& tested) { return std::string(tested.param.name); });

INSTANTIATE_TEST_SUITE_P(Communicator, ContractOnThreads,
                         ::testing::Combine(::testing::ValuesIn(test::collectiveContract()),
                                            ::testing::Values(1, 2, 3, 7)),
                         [](const ::testing::TestParamInfo<ContractOnThreads::ParamType>& tested) {
                           return std::get<0>(tested.param).name + std::string("On") +
                                  std::to_string(std::get<1>(tested.param));
                         });

}  // namespace
}  // namespace steptape::testing
