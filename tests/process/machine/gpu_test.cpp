// SPDX-License-Identifier: Apache-2.0
// GPUs of MachineSampler, read from a library in the place of NVIDIA's.

#include <cstdlib>
#include <dlfcn.h>

#include "steptape/process/machine_sampler.h"

#include "process/machine/fake_system.h"
#include "process/machine/nvml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsNan;

constexpr int kNotSupported = 3;
constexpr int kDriverNotLoaded = 9;
constexpr int kVersionMismatch = 18;
constexpr int kGpuIsLost = 15;

class Gpus : public ::testing::Test {
 protected:
  Gpus() {
    unsetenv("CUDA_VISIBLE_DEVICES");
    fail("", -1, 0);
    system_.write("proc/self/statm", "1 1\n");
  }

  static void fail(const char* call, int gpu, int error) {
    function<void (*)(const char*, int, int)>("fakeNvmlFail")(call, gpu, error);
  }
  static int users() { return function<int (*)()>("fakeNvmlUsers")(); }

  MachineSamplerOptions options() {
    MachineSamplerOptions options = system_.options();
    options.nvmlLibrary = STEPTAPE_FAKE_NVML;
    return options;
  }

  std::vector<double> utilizations() {
    std::vector<double> utilizations;
    for (const GpuSample& gpu : MachineSampler(options()).sample().gpus) {
      utilizations.push_back(gpu.utilizationPercent);
    }
    return utilizations;
  }

  test::FakeSystem system_;

 private:
  template <typename Function>
  static Function function(const char* name) {
    static void* const kLibrary = dlopen(STEPTAPE_FAKE_NVML, RTLD_NOW);
    return reinterpret_cast<Function>(dlsym(kLibrary, name));
  }
};

TEST_F(Gpus, AreMeasured) {
  const std::vector<GpuSample> gpus = MachineSampler(options()).sample().gpus;
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_EQ(gpus[1].utilizationPercent, 90);
  EXPECT_EQ(gpus[1].memoryBytes, 3e9);
  EXPECT_EQ(gpus[1].memoryTotalBytes, 80e9);
  EXPECT_EQ(gpus[1].temperatureCelsius, 80);
  EXPECT_EQ(gpus[0].powerWatts, 100.5);
  EXPECT_THAT(system_.problems, IsEmpty());
}

TEST_F(Gpus, AreThoseThatCudaSees) {
  const std::vector<std::pair<const char*, std::vector<double>>> cases{
      {"1", {90}},
      {"1,0", {90, 10}},
      {" 0 , 1 ", {10, 90}},
      {"GPU-bbbb", {90}},
      {"GPU-bbbbbbbb-0000-0000-0000-000000000000,GPU-a", {90, 10}},
      {"", {}},
      {"-1", {}},
      {"NoDevFiles", {}},
      {"0,7,1", {10}},
      {"GPU-cccc,0", {}}};
  for (const auto& [visible, wanted] : cases) {
    setenv("CUDA_VISIBLE_DEVICES", visible, 1);
    EXPECT_EQ(utilizations(), wanted) << visible;
  }
}

TEST_F(Gpus, OfTheRankAreNumberedAsCudaDoes) {
  setenv("CUDA_VISIBLE_DEVICES", "1,0", 1);
  MachineSamplerOptions ofRank = options();
  ofRank.gpus = {1};
  const std::vector<GpuSample> gpus = MachineSampler(ofRank).sample().gpus;
  ASSERT_EQ(gpus.size(), 1U);
  EXPECT_EQ(gpus[0].utilizationPercent, 10);
}

TEST_F(Gpus, ThatDoNotExistAreReported) {
  MachineSamplerOptions ofRank = options();
  ofRank.gpus = {5};
  EXPECT_THAT(MachineSampler(ofRank).sample().gpus, IsEmpty());
  EXPECT_THAT(system_.problems, ElementsAre("MachineSampler: no metrics of a GPU: got GPU 5; "
                                            "expected one of the 2 visible GPUs"));
}

TEST_F(Gpus, LeaveOutWhatTheyDoNotSupport) {
  fail("nvmlDeviceGetPowerUsage", 0, kNotSupported);
  const std::vector<GpuSample> gpus = MachineSampler(options()).sample().gpus;
  EXPECT_THAT(gpus.at(0).powerWatts, IsNan());
  EXPECT_EQ(gpus.at(0).temperatureCelsius, 40);
  EXPECT_EQ(gpus.at(1).powerWatts, 700);
  EXPECT_THAT(system_.problems, IsEmpty());
}

TEST_F(Gpus, ThatAreLostAreReportedOnceAndTheOthersAreMeasured) {
  MachineSampler sampler(options());
  sampler.sample();
  fail("nvmlDeviceGetMemoryInfo", 0, kGpuIsLost);
  sampler.sample();
  const std::vector<GpuSample> gpus = sampler.sample().gpus;
  EXPECT_THAT(gpus.at(0).memoryBytes, IsNan());
  EXPECT_EQ(gpus.at(1).memoryBytes, 3e9);
  EXPECT_THAT(system_.problems, ElementsAre("MachineSampler: no metrics of GPU 0: "
                                            "nvmlDeviceGetMemoryInfo: GPU is lost"));
}

TEST_F(Gpus, AreNoneWithoutADriverWhichIsNoProblem) {
  fail("nvmlInit_v2", -1, kDriverNotLoaded);
  EXPECT_THAT(utilizations(), IsEmpty());
  MachineSamplerOptions without = options();
  without.nvmlLibrary = "libno-such-driver.so.1";
  EXPECT_THAT(MachineSampler(without).sample().gpus, IsEmpty());
  EXPECT_THAT(system_.problems, IsEmpty());
}

TEST_F(Gpus, OfABrokenDriverAreReported) {
  fail("nvmlInit_v2", -1, kVersionMismatch);
  EXPECT_THAT(utilizations(), IsEmpty());
  fail("nvmlDeviceGetCount_v2", -1, kGpuIsLost);
  EXPECT_THAT(utilizations(), IsEmpty());
  MachineSamplerOptions other = options();
  other.nvmlLibrary = "libm.so.6";
  EXPECT_THAT(MachineSampler(other).sample().gpus, IsEmpty());
  EXPECT_THAT(system_.problems,
              ElementsAre(HasSubstr("no GPU metrics: nvmlInit_v2: Unknown Error"),
                          HasSubstr("no metrics of GPUs: nvmlDeviceGetCount_v2: GPU is lost"),
                          HasSubstr("no GPU metrics: got a libm.so.6 without all functions")));
}

TEST_F(Gpus, AreReleasedWithTheSampler) {
  EXPECT_EQ(users(), 0);
  {
    MachineSampler sampler(options());
    EXPECT_EQ(users(), 0);  // Starting the driver's library takes time: in the first sample.
    sampler.sample();
    EXPECT_EQ(users(), 1);
  }
  EXPECT_EQ(users(), 0);
}

}  // namespace
}  // namespace steptape
