// SPDX-License-Identifier: Apache-2.0
// The guarantees of every communicator, on as many processes as have been started.

#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <numeric>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

#include "steptape/ranks/c10d_job.h"

#include "process/spans/span_collector.h"
#include "ranks/c10d/c10d_communicator.h"
#include "ranks/c10d/gloo_transport.h"
#include "ranks/c10d/rendezvous.h"
#include "ranks/c10d/tcp_store.h"
#include "ranks/communicator/collective_contract.h"
#include "ranks/communicator/launch.h"

#include <gtest/gtest.h>

namespace steptape {
namespace {

std::shared_ptr<c10d::detail::TcpStore> store() {
  static const auto store = [] {
    detail::ranks::LaunchSupport support;
    support.hasStore = true;
    detail::ranks::Launch launch = detail::ranks::findLaunch(support);
    launch.isServedByAgent = true;  // the environment of main() serves it
    return std::make_shared<c10d::detail::TcpStore>(launch, std::chrono::seconds(30));
  }();
  return store;
}

/// Meets the other ranks once more, and makes a communicator that moves data in another way.
std::shared_ptr<Communicator> meetAgain(const EnvironmentOptions& options) {
  detail::ranks::LaunchSupport support;
  support.hasStore = true;
  detail::ranks::Launch launch = detail::ranks::findLaunch(support);
  launch.isServedByAgent = true;  // one start follows the other at this store
  if (launch.size == 1) {
    return std::make_shared<Communicator>();
  }
  const c10d::detail::Meeting meeting = c10d::detail::meet(
      store(), store()->address(), launch, options.ranksPerNode, std::chrono::seconds(30));
  std::vector<int> ranks(static_cast<std::size_t>(launch.size));
  std::iota(ranks.begin(), ranks.end(), 0);
  return c10d::detail::C10dCommunicator::make({store(), options}, meeting.store, meeting.prefix,
                                              meeting.map, ranks, std::chrono::seconds(30));
}

using ContractOnC10d = ::testing::TestWithParam<test::ContractCase>;

TEST_P(ContractOnC10d, HoldsInSharedMemory) {
  GetParam().check(*world()->duplicate());
}

TEST_P(ContractOnC10d, HoldsByGloo) {
  ASSERT_TRUE(c10d::detail::hasGloo());
  EnvironmentOptions options;
  options.useNodeMemory = false;
  const auto world = meetAgain(options);
  GetParam().check(*world);
}

/// Sends the signal to each thread of this process except the calling one.
void signalOtherThreads(int signal) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    const int thread = std::stoi(entry.path().filename());
    if (thread != ::syscall(SYS_gettid)) {
      ::syscall(SYS_tgkill, ::getpid(), thread, signal);
    }
  }
}

/// What the kernel sends to a thread that writes to a rank that has just died. The signal would end
/// the process without a word.
TEST(Contract, HoldsAfterAWriteToAClosedConnection) {
  EnvironmentOptions options;
  options.useNodeMemory = false;
  const auto world = meetAgain(options);
  signalOtherThreads(SIGPIPE);
  world->barrier();
}

TEST(Contract, HoldsWhileAProfilerRecords) {
  detail::process::SpanCollector collector(4096);
  collector.startRecording();
  const auto world = steptape::world()->duplicate();
  for (const test::ContractCase& contract : test::collectiveContract()) {
    contract.check(*world);
  }
  std::size_t recorded = 0;
  collector.drain(
      [&](const detail::process::SpanBatch& batch) { recorded += batch.records.size(); });
  EXPECT_GT(recorded, test::collectiveContract().size());
}

INSTANTIATE_TEST_SUITE_P(Communicator, ContractOnC10d,
                         ::testing::ValuesIn(test::collectiveContract()),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace steptape
