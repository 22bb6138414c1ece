// SPDX-License-Identifier: Apache-2.0
// Kernels and copies in traces, and the calls of the CUDA runtime that launched them.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "steptape/ranks/testing.h"

#include "profile/trace/chrome/chrome_trace.h"
#include "profile/trace/trace_builder.h"
#include "profile/trace/xplane/xplane_trace.h"
#include "support/content_of.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::SizeIs;

/// One operator copies, the operator inside it launches a kernel, and a call outside launches
/// another.
class Launch : public ::testing::Test {
 protected:
  Launch() {
    // The stream comes first, as in a trace whose first record is of a device.
    const std::size_t stream = builder_.stream(0, 7);
    const std::size_t host = 1;
    TraceSpan& copy = builder_.span(stream, "Memcpy HtoD (Pageable -> Device)", SpanKind::kDevice,
                                    20'000, 22'000);
    copy.correlation = 11;
    copy.details = details(4096, "");
    TraceSpan& kernel = builder_.span(stream, "sgemm", SpanKind::kDevice, 40'000, 70'000);
    kernel.correlation = 12;
    kernel.details =
        details(0,
                "\"context\": 1, \"registers per thread\": 80, \"shared memory\": 2048, "
                "\"grid\": [32, 2, 1], \"block\": [128, 1, 1], "
                "\"est. achieved occupancy %\": 12");
    builder_.span(stream, "fill", SpanKind::kDevice, 80'000, 81'000).correlation = 13;
    builder_.span(stream, "aten::mm", SpanKind::kDevice, 90'000, 91'000);  // timed by events
    builder_.span(host, "aten::linear", SpanKind::kOperator, 10'000, 60'000);
    builder_.span(host, "cudaMemcpyAsync", SpanKind::kRuntime, 12'000, 15'000).correlation = 11;
    builder_.span(host, "aten::mm", SpanKind::kOperator, 20'000, 50'000);
    builder_.span(host, "cudaLaunchKernel", SpanKind::kRuntime, 30'000, 35'000).correlation = 12;
    builder_.span(host, "cudaStreamIsCapturing", SpanKind::kRuntime, 36'000, 37'000).correlation =
        99;
    builder_.span(host, "cuLaunchKernel", SpanKind::kRuntime, 75'000, 76'000).correlation = 13;
    trace_ = builder_.take();
  }

  std::uint32_t details(std::int64_t bytes, const std::string& arguments) {
    SpanDetails details;
    details.bytes = bytes;
    details.arguments = arguments;
    builder_.trace().details.push_back(details);
    return static_cast<std::uint32_t>(builder_.trace().details.size() - 1);
  }

  json written() const {
    const testing::TempDir dir;
    const std::string path = dir.string() + "/trace.json";
    detail::profile::ChromeTraceOptions options;
    options.compress = false;
    EXPECT_TRUE(detail::profile::writeChromeTrace(path, trace_, options).ok());
    return json::parse(test::contentOf(path));
  }

  const TraceSpan& at(std::size_t thread, std::size_t span) const {
    return trace_.threads[thread].spans[span];
  }

  TraceBuilder builder_;
  Trace trace_;
};

json eventNamed(const json& file, const std::string& name, const std::string& category) {
  for (const json& event : file["traceEvents"]) {
    if (event.value("name", "") == name && event.value("cat", "") == category) {
      return event;
    }
  }
  ADD_FAILURE() << "no event " << name << " of " << category;
  return {};
}

TEST_F(Launch, IsFoundByTheCorrelation) {
  std::vector<std::string> links;
  for (const TraceLink& link : linkLaunches(trace_)) {
    links.push_back(trace_.names[at(link.fromThread, link.fromSpan).name].text + " > " +
                    trace_.names[at(link.toThread, link.toSpan).name].text);
  }
  EXPECT_THAT(links, ElementsAre("cudaMemcpyAsync > Memcpy HtoD (Pageable -> Device)",
                                 "cudaLaunchKernel > sgemm", "cuLaunchKernel > fill"));
}

TEST_F(Launch, MayStartSeveralKernels) {
  trace_.threads[0].spans[2].correlation = 12;
  const std::vector<TraceLink> links = linkLaunches(trace_);
  ASSERT_THAT(links, SizeIs(3));
  EXPECT_EQ(links[1].fromSpan, links[2].fromSpan);
}

TEST_F(Launch, HasKinetosCategories) {
  const json file = written();
  EXPECT_EQ(eventNamed(file, "sgemm", "kernel")["args"]["correlation"], 12);
  EXPECT_EQ(eventNamed(file, "cudaLaunchKernel", "cuda_runtime")["args"]["correlation"], 12);
  EXPECT_EQ(eventNamed(file, "cuLaunchKernel", "cuda_driver")["args"]["correlation"], 13);
  const json copy = eventNamed(file, "Memcpy HtoD (Pageable -> Device)", "gpu_memcpy");
  EXPECT_EQ(copy["args"]["bytes"], 4096);
  EXPECT_EQ(copy["args"]["memory bandwidth (GB/s)"], 2.048);
  EXPECT_EQ(copy["args"]["stream"], 7);
  EXPECT_EQ(copy["args"]["device"], 0);
}

TEST_F(Launch, HasTheExternalIdOfTheInnermostOperator) {
  const json file = written();
  const auto id = [&](const char* name, const char* category) {
    return eventNamed(file, name, category)["args"]["External id"].get<int>();
  };
  EXPECT_EQ(id("sgemm", "kernel"), id("aten::mm", "cpu_op"));
  EXPECT_EQ(id("cudaLaunchKernel", "cuda_runtime"), id("aten::mm", "cpu_op"));
  EXPECT_EQ(id("Memcpy HtoD (Pageable -> Device)", "gpu_memcpy"), id("aten::linear", "cpu_op"));
  EXPECT_EQ(id("fill", "kernel"), id("cuLaunchKernel", "cuda_driver"));
  EXPECT_NE(id("fill", "kernel"), id("aten::linear", "cpu_op"));
  EXPECT_NE(id("aten::mm", "cpu_op"), id("aten::linear", "cpu_op"));
}

TEST_F(Launch, HasAnArrowToItsWork) {
  std::vector<std::string> ends;
  const json file = written();
  for (const json& event : file["traceEvents"]) {
    if (event.value("cat", "") == "ac2g") {
      ends.push_back(event["ph"].get<std::string>() + event["id"].dump() + " on " +
                     event["tid"].dump());
    }
  }
  EXPECT_THAT(ends,
              ElementsAre("s1 on 101", "f1 on 7", "s2 on 101", "f2 on 7", "s3 on 101", "f3 on 7"));
}

TEST_F(Launch, StaysTheSameWhenItIsWrittenAndReadAgain) {
  const testing::TempDir dir;
  const std::string path = dir.string() + "/trace.json.gz";
  ASSERT_TRUE(detail::profile::writeChromeTrace(path, trace_).ok());
  const std::vector<Trace> read = detail::profile::readChromeTrace(path);
  ASSERT_THAT(read, SizeIs(1));
  EXPECT_THAT(linkLaunches(read[0]), SizeIs(3));
  const TraceSpan& copy = read[0].threads[0].spans[0];
  EXPECT_EQ(copy.correlation, 11U);
  EXPECT_EQ(read[0].details[copy.details].arguments, "\"memory bandwidth (GB/s)\": 2.048");
}

TEST_F(Launch, KeepsItsCorrelationInAnXPlane) {
  const testing::TempDir dir;
  const std::string path = dir.string() + "/a.xplane.pb";
  ASSERT_TRUE(detail::profile::writeXPlane(path, trace_).ok());
  const Trace read = detail::profile::readXPlane(path);
  EXPECT_THAT(linkLaunches(read), SizeIs(3));
  const std::string bytes = test::contentOf(path);
  EXPECT_THAT(bytes, ::testing::HasSubstr("regs:80 static_shared:0 dynamic_shared:2048 "
                                          "grid:32,2,1 block:128,1,1 occ_pct:12"));
  for (const TraceThread& thread : read.threads) {
    for (const TraceSpan& span : thread.spans) {
      if (read.names[span.name].kind == SpanKind::kDevice &&
          read.names[span.name].text == "aten::mm") {
        EXPECT_EQ(span.correlation, 0U);  // the number that XProf needs is not one
      }
    }
  }
}

}  // namespace
}  // namespace steptape
