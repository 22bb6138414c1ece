// SPDX-License-Identifier: Apache-2.0
#include "steptape/process/machine_sampler.h"

#include <cmath>
#include <fstream>
#include <sstream>
#include <unistd.h>

#include "process/machine/fake_system.h"
#include "process/machine/quantities.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsNan;

constexpr std::chrono::seconds kSecond{1};

TEST(MachineSampler, MeasuresThisProcess) {
  MachineSampler sampler;
  sampler.sample();
  const std::int64_t start = Clock::system().steadyNanos();
  while (Clock::system().steadyNanos() - start < 20'000'000) {
    // Uses processor time.
  }
  const MachineSample sample = sampler.sample();
  EXPECT_GT(sample.cpuPercent, 0);
  EXPECT_GT(sample.residentBytes, 1e5);
  EXPECT_LT(sample.residentBytes, 1e12);
  EXPECT_GE(sample.load, 0);
  EXPECT_GT(sample.availableBytes, 1e6);
  EXPECT_GE(sample.receivedBytesPerSecond, 0);
}

TEST(MachineSampler, ComputesRatesOverTheTimeThatPassed) {
  test::FakeSystem system;
  MachineSampler sampler(system.options());
  system.write("proc/self/io",
               "rchar: 1\nread_bytes: 1000\nwrite_bytes: 0\n"
               "cancelled_write_bytes: 7\n");
  EXPECT_THAT(sampler.sample().readBytesPerSecond, IsNan());
  system.write("proc/self/io",
               "rchar: 1\nread_bytes: 5000\nwrite_bytes: 100\n"
               "cancelled_write_bytes: 9\n");
  system.pass(4 * kSecond);
  const MachineSample sample = sampler.sample();
  EXPECT_EQ(sample.readBytesPerSecond, 1000);
  EXPECT_EQ(sample.writeBytesPerSecond, 25);
}

TEST(MachineSampler, DoesNotKnowTheRateOfACounterThatWentBackward) {
  test::FakeSystem system;
  MachineSampler sampler(system.options());
  system.write("proc/self/io", "read_bytes: 1000\n");
  sampler.sample();
  system.write("proc/self/io", "read_bytes: 10\n");
  system.pass(kSecond);
  EXPECT_THAT(sampler.sample().readBytesPerSecond, IsNan());
  system.write("proc/self/io", "read_bytes: 30\n");
  system.pass(kSecond);
  EXPECT_EQ(sampler.sample().readBytesPerSecond, 20);
}

TEST(MachineSampler, DoesNotKnowARateIfNoTimePassed) {
  test::FakeSystem system;
  system.write("proc/self/io", "read_bytes: 1000\n");
  MachineSampler sampler(system.options());
  sampler.sample();
  EXPECT_THAT(sampler.sample().readBytesPerSecond, IsNan());
}

TEST(MachineSampler, ReadsMemoryLoadAndPressure) {
  test::FakeSystem system;
  system.write("proc/self/statm", "900 7 3 1 0 2 0\n");
  system.write("proc/loadavg", "3.25 1.00 0.50 2/80 11206\n");
  system.write("proc/meminfo", "MemTotal:  200 kB\nMemFree: 5 kB\nMemAvailable:    100 kB\n");
  system.write("proc/pressure/cpu", "some avg10=1.00 avg60=0.00 avg300=0.00 total=1000000\n");
  system.write("proc/pressure/io",
               "some avg10=1.00 avg60=0.00 avg300=0.00 total=0\n"
               "full avg10=1.00 avg60=0.00 avg300=0.00 total=5\n");
  MachineSampler sampler(system.options());
  sampler.sample();
  system.write("proc/pressure/cpu", "some avg10=1.00 avg60=0.00 avg300=0.00 total=1500000\n");
  system.pass(2 * kSecond);
  const MachineSample sample = sampler.sample();
  EXPECT_EQ(sample.residentBytes, 7.0 * static_cast<double>(sysconf(_SC_PAGESIZE)));
  EXPECT_EQ(sample.load, 3.25);
  EXPECT_EQ(sample.availableBytes, 100 * 1024);
  EXPECT_DOUBLE_EQ(sample.cpuPressurePercent, 25);
  EXPECT_EQ(sample.ioPressurePercent, 0);
  EXPECT_THAT(sample.memoryPressurePercent, IsNan());
}

constexpr const char* kHeading =
    "Inter-|   Receive                                                |  Transmit\n"
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets\n";

TEST(MachineSampler, CountsTrafficOfPhysicalInterfacesOnce) {
  test::FakeSystem system;
  system.write("sys/class/net/eth0/device/vendor", "");
  system.write("proc/self/net/dev", std::string(kHeading) +
                                        "    lo: 9 1 0 0 0 0 0 0 9 1\n"
                                        "  eth0: 100 1 0 0 0 0 0 0 10 1\n"
                                        " bond0: 100 1 0 0 0 0 0 0 10 1\n");
  MachineSampler sampler(system.options());
  sampler.sample();
  system.write("proc/self/net/dev", std::string(kHeading) +
                                        "    lo: 99 1 0 0 0 0 0 0 99 1\n"
                                        "  eth0: 400 1 0 0 0 0 0 0 60 1\n"
                                        " bond0: 400 1 0 0 0 0 0 0 60 1\n");
  system.pass(kSecond);
  const MachineSample sample = sampler.sample();
  EXPECT_EQ(sample.receivedBytesPerSecond, 300);
  EXPECT_EQ(sample.sentBytesPerSecond, 50);
}

TEST(MachineSampler, CountsAllTrafficButLoopbackWhereNoInterfaceIsPhysical) {
  test::FakeSystem system;
  system.write("proc/self/net/dev",
               "lo: 9 1 0 0 0 0 0 0 9 1\neth0:100 1 0 0 0 0 0 0 10 1\neth1:1 1 0 0 0 0 0 0 1 1\n");
  MachineSampler sampler(system.options());
  sampler.sample();
  system.write("proc/self/net/dev",
               "lo: 99 1 0 0 0 0 0 0 99 1\neth0:200 1 0 0 0 0 0 0 20 1\n"
               "eth1:21 1 0 0 0 0 0 0 31 1\n");
  system.pass(kSecond);
  const MachineSample sample = sampler.sample();
  EXPECT_EQ(sample.receivedBytesPerSecond, 120);
  EXPECT_EQ(sample.sentBytesPerSecond, 40);
}

void expectNothingButProcessorTime(const MachineSample& sample) {
  for (const auto& quantity : detail::process::machineQuantities()) {
    const bool isFromSystemCall = quantity.value == &MachineSample::cpuPercent ||
                                  quantity.value == &MachineSample::majorFaultsPerSecond;
    EXPECT_EQ(std::isnan(sample.*quantity.value), !isFromSystemCall) << quantity.name;
  }
  EXPECT_THAT(sample.gpus, IsEmpty());
}

TEST(MachineSampler, ReportsOnceThatProcIsMissing) {
  test::FakeSystem system;
  MachineSampler sampler(system.options());
  sampler.sample();
  system.pass(kSecond);
  expectNothingButProcessorTime(sampler.sample());
  EXPECT_THAT(
      system.problems,
      ElementsAre("MachineSampler: cannot read " + system.options().procDirectory +
                  "/self/statm: No such file or directory; memory and rates are not known"));
}

TEST(MachineSampler, LeavesOutWhatItCannotParse) {
  test::FakeSystem system;
  const std::vector<std::string> files{"self/statm",   "self/io",         "self/net/dev",
                                       "self/cgroup",  "loadavg",         "meminfo",
                                       "pressure/cpu", "pressure/memory", "pressure/io"};
  const std::vector<std::string> texts{"",
                                       "\n\n:\n",
                                       "some\n",
                                       "some total=\n",
                                       "total=99999999999999999999999\n",
                                       "read_bytes:\nwrite_bytes: -3\nMemAvailable: kB\n",
                                       "eth0: 1 2 3\n: : : :\n0::\n1:memory:\n",
                                       std::string("\0\xff", 2)};
  for (const std::string& text : texts) {
    for (const std::string& file : files) {
      system.write("proc/" + file, text);
    }
    MachineSampler sampler(system.options());
    sampler.sample();
    system.pass(kSecond);
    expectNothingButProcessorTime(sampler.sample());
  }
  EXPECT_THAT(system.problems, IsEmpty());
}

TEST(MachineSampler, MeasuresOnlyWhatTheDocumentExplains) {
  std::ostringstream text;
  text << std::ifstream(STEPTAPE_SOURCE_DIR "/docs/distributed.md").rdbuf();
  for (const auto& quantity : detail::process::machineQuantities()) {
    EXPECT_THAT(text.str(), ::testing::HasSubstr("`" + std::string(quantity.name) + "`"));
  }
  for (const auto& quantity : detail::process::gpuQuantities()) {
    EXPECT_THAT(text.str(), ::testing::HasSubstr("`gpu0/" + std::string(quantity.name) + "`"));
  }
}

TEST(MachineSampler, WritesAProblemToStderrByDefault) {
  MachineSamplerOptions options;
  options.procDirectory = "/nowhere";
  options.nvmlLibrary = "";
  MachineSampler sampler(options);
  ::testing::internal::CaptureStderr();
  sampler.sample();
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              ::testing::StartsWith("steptape: MachineSampler: cannot read /nowhere/self/statm: "));
}

}  // namespace
}  // namespace steptape
