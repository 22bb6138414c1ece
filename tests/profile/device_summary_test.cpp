// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "steptape/profile/trace_summary.h"

#include "profile/trace/trace_builder.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// A device of which two streams work, with launches by an operator, a zone and neither.
Trace deviceTrace() {
  TraceBuilder builder;
  builder.span(0, "step", SpanKind::kZone, 0, 500);
  builder.span(0, "aten::mm", SpanKind::kOperator, 10, 100);
  builder.span(0, "cudaLaunchKernel", SpanKind::kRuntime, 20, 30).correlation = 1;
  builder.span(0, "cudaLaunchKernel", SpanKind::kRuntime, 40, 50).correlation = 2;
  builder.span(0, "cudaMemcpyAsync", SpanKind::kRuntime, 120, 130).correlation = 3;
  builder.span(0, "ncclLaunch", SpanKind::kRuntime, 600, 610).correlation = 4;
  const std::size_t compute = builder.stream(0, 7);
  builder.span(compute, "sgemm", SpanKind::kDevice, 100, 300).correlation = 1;
  builder.span(compute, "relu", SpanKind::kDevice, 300, 400).correlation = 2;
  builder.span(compute, "Memcpy DtoH (Device -> Pinned)", SpanKind::kDevice, 450, 500).correlation =
      3;
  const std::size_t transfer = builder.stream(0, 20);
  builder.span(transfer, "ncclDevKernel_AllReduce", SpanKind::kDevice, 350, 470).correlation = 4;
  builder.trace().duration = 1000;
  return builder.take();
}

TEST(SummarizeDevices, DividesTheTimeOfADevice) {
  const std::vector<DeviceSummary> devices = summarizeDevices(deviceTrace());
  ASSERT_THAT(devices, SizeIs(1));
  EXPECT_EQ(devices[0].device, 0);
  EXPECT_EQ(devices[0].window, 1000);
  EXPECT_EQ(devices[0].busy, 400);
  EXPECT_EQ(devices[0].kernels, 300);
  EXPECT_EQ(devices[0].copies, 50);
  EXPECT_EQ(devices[0].transfer, 120);
  EXPECT_EQ(devices[0].overlap, 50);
}

TEST(SummarizeDevices, FindsWhoLaunchedTheWork) {
  std::vector<std::string> lines;
  const std::vector<DeviceSummary> devices = summarizeDevices(deviceTrace());
  for (const LaunchSummary& launcher : devices.at(0).launchers) {
    lines.push_back(launcher.name + " " + std::to_string(launcher.count) + " " +
                    std::to_string(launcher.busy));
  }
  EXPECT_THAT(lines, ElementsAre("aten::mm 2 300", "(no operator) 1 120", "step 1 50"));
}

TEST(SummarizeDevices, CountsWorkUpToTheEndOfTheWindow) {
  Trace trace = deviceTrace();
  trace.duration = 320;
  const std::vector<DeviceSummary> devices = summarizeDevices(trace);
  EXPECT_EQ(devices.at(0).busy, 220);
  EXPECT_EQ(devices.at(0).copies, 0);
}

TEST(SummarizeDevices, KnowsNoLaunchersOfWorkThatEventsTimed) {
  TraceBuilder builder;
  builder.span(0, "aten::mm", SpanKind::kOperator, 10, 100);
  builder.span(builder.stream(1, 7), "aten::mm", SpanKind::kDevice, 100, 300);
  builder.trace().duration = 400;
  const std::vector<DeviceSummary> devices = summarizeDevices(builder.take());
  ASSERT_THAT(devices, SizeIs(1));
  EXPECT_EQ(devices[0].device, 1);
  EXPECT_EQ(devices[0].busy, 200);
  EXPECT_THAT(devices[0].launchers, IsEmpty());
}

TEST(SummarizeDevices, IsEmptyWithoutDevices) {
  TraceBuilder builder;
  builder.span(0, "aten::mm", SpanKind::kOperator, 10, 100);
  EXPECT_THAT(summarizeDevices(builder.take()), IsEmpty());
}

TEST(SummarizeSteps, CountsCallsOfTheRuntimeWithTheirOperator) {
  TraceBuilder builder;
  builder.step(0, 0, 100);
  builder.span(0, "aten::mm", SpanKind::kOperator, 10, 60);
  builder.span(0, "cudaLaunchKernel", SpanKind::kRuntime, 20, 50);
  builder.span(0, "cudaDeviceSynchronize", SpanKind::kRuntime, 70, 90);
  const StepSummary step = summarizeSteps(builder.take()).at(0);
  EXPECT_EQ(step.forward, 50);
  EXPECT_EQ(step.other, 50);
}

}  // namespace
}  // namespace steptape
