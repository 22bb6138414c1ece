// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "steptape/ranks/testing.h"

#include "profile/trace/gunzip.h"
#include "profile/trace/perfetto/perfetto_trace.h"
#include "profile/trace/random_trace.h"
#include "profile/trace/sample_trace.h"
#include "support/content_of.h"
#include "support/small_disk.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

namespace fs = std::filesystem;

using ::testing::EndsWith;
using ::testing::HasSubstr;

// tests/interop/perfetto_trace_test.py compares the contents with those of a Chrome trace, and has
// them read by Perfetto.

std::string written(const std::vector<Trace>& processes, bool compress) {
  const testing::TempDir dir;
  const std::string path = dir.string() + "/trace.pftrace";
  detail::profile::PerfettoTraceOptions options;
  options.compress = compress;
  EXPECT_TRUE(detail::profile::writePerfettoTrace(path, processes, options).ok());
  return test::contentOf(path);
}

std::string hexOf(const std::string& bytes) {
  std::string hex;
  for (const char byte : bytes) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(byte));
    hex += digits;
  }
  return hex;
}

TEST(PerfettoWriter, WritesTheSameCompressed) {
  EXPECT_EQ(gunzipped(written({trainingTrace().trace()}, true)),
            written({trainingTrace().trace()}, false));
  for (unsigned seed = 0; seed < 10; ++seed) {
    ASSERT_TRUE(gunzipped(written({randomTrace(seed)}, true)) ==
                written({randomTrace(seed)}, false))
        << "seed " << seed;
  }
}

TEST(PerfettoWriter, WritesTheBytesOfTheFormat) {
  SampleTrace sample;
  sample.thread(9, "t");
  sample.span("a", SpanKind::kOperator, 5, 300);
  sample.trace().originNanos = 7'889'238'000'000'000;
  // Each packet was parsed with Perfetto 0.59.1's perfetto_trace_pb2, which says what is beside it.
  EXPECT_THAT(
      hexOf(written({sample.trace()}, false)),
      EndsWith(
          // Sequence 2 begins: clock 64 counts from the same time as Unix time and boot time.
          "0a3450026801b80501322b0a0d08401080b8a7e485e7810e18010a0b08011080b8a7e485e7810e0a0b080610"
          "80b8a7e485e7810e1001"
          // Defaults: track 2, clock 64. Track 2: thread 9, "t", of process 4242.
          "0a1f50026802da03075a025802d00340e2030e0802220808922110092a01746001"
          // Category 1: "cpu_op"; name 2: "a".
          "0a195002680262130a0a080112066370755f6f7012050802120161"
          // TYPE_SLICE_BEGIN of name 2 and category 1, 5 ns later.
          "0a0e500268025a064801180150024005"
          // TYPE_SLICE_END, 300 ns later.
          "0a0b500268025a02480240ac02"));
}

TEST(PerfettoWriter, WritesTheNumbersOfASpanAsArguments) {
  SampleTrace sample;
  sample.thread(9, "t");
  TraceSpan& span = sample.span("a", SpanKind::kOperator, 5, 300);
  span.sequence = 300;
  span.flags |= kHasValue;
  span.value = 0.5;
  span.correlation = 7;
  // Names 3 to 6 of the sequence: "Fwd thread id", "Sequence number", "value", "correlation".
  EXPECT_THAT(hexOf(written({sample.trace()}, false)), HasSubstr("220408032000"
                                                                 "2205080420ac02"
                                                                 "220b080529000000000000e03f"
                                                                 "220408062007"));
}

TEST(PerfettoWriter, NamesProcessesByTheirRanks) {
  std::vector<Trace> processes(2, trainingTrace().trace());
  for (int rank = 0; rank < 2; ++rank) {
    processes[static_cast<std::size_t>(rank)].rank = rank;
    processes[static_cast<std::size_t>(rank)].worldSize = 2;
    processes[static_cast<std::size_t>(rank)].hostName = "";
  }
  const std::string bytes = written(processes, false);
  EXPECT_THAT(bytes, HasSubstr("\x32\x06rank 0"));
  EXPECT_THAT(bytes, HasSubstr("\x32\x06rank 1"));
  EXPECT_THAT(bytes, HasSubstr("rank 1 of 2"));
  EXPECT_THAT(bytes, ::testing::Not(HasSubstr("rank 1 of 2 on")));
}

TEST(PerfettoWriter, RefusesToWriteNoProcess) {
  const testing::TempDir dir;
  const Status status =
      detail::profile::writePerfettoTrace(dir.string() + "/trace", ArrayView<const Trace>());
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.code(), ErrorCode::kInvalidArgument);
  EXPECT_TRUE(fs::is_empty(dir.path()));
}

TEST(PerfettoWriter, ReplacesAFileThatIsThere) {
  const testing::TempDir dir;
  const std::string path = dir.string() + "/trace.pftrace.gz";
  std::ofstream(path) << "old";
  ASSERT_TRUE(detail::profile::writePerfettoTrace(path, trainingTrace().trace()).ok());
  EXPECT_THAT(gunzipped(test::contentOf(path)), HasSubstr("aten::linear"));
}

TEST(PerfettoWriter, SaysWhyItCannotWrite) {
  const testing::TempDir dir;
  const std::string path = dir.string() + "/none/trace.pftrace";
  const Status status = detail::profile::writePerfettoTrace(path, Trace());
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.code(), ErrorCode::kIoError);
  EXPECT_EQ(status.message(), "cannot write " + path + ": No such file or directory");
}

TEST(PerfettoWriter, RemovesTheFileOnAFullDisk) {
  const testing::TempDir dir;
  const std::string path = dir.string() + "/trace.pftrace";
  std::ofstream(path) << "old";
  SampleTrace sample;
  sample.thread(1);
  std::mt19937_64 random(1);
  for (std::int64_t i = 0; i < 20'000; ++i) {
    sample.span("zone " + std::to_string(random()), SpanKind::kZone, 10 * i, 5);
  }
  Status status;
  {
    const test::SmallDisk disk(100'000);
    status = detail::profile::writePerfettoTrace(path, sample.trace());
  }
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.message(), "cannot write " + path + ": File too large");
  EXPECT_EQ(test::contentOf(path), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(dir.path()), fs::directory_iterator()), 1);
}

TEST(PerfettoTraceFileName, HasTheHostProcessAndTime) {
  Trace trace = trainingTrace().trace();
  EXPECT_EQ(detail::profile::perfettoTraceFileName(trace),
            "node1_4242.1795350356848502275.pftrace.gz");
  trace.rank = 3;
  trace.worldSize = 4;
  EXPECT_EQ(detail::profile::perfettoTraceFileName(trace),
            "node1_rank00003_4242.1795350356848502275.pftrace.gz");
}

}  // namespace
}  // namespace steptape
