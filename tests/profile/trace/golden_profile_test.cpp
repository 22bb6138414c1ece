// SPDX-License-Identifier: Apache-2.0
// Profiles of JAX and TensorFlow are read as their programs made them, and can be converted; see
// tests/golden/README.md. tests/interop/foreign_traces_test.py has the copies read by others.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "steptape/ranks/testing.h"

#include "profile/trace/chrome/chrome_trace.h"
#include "profile/trace/xplane/xplane_trace.h"
#include "support/content_of.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::IsSupersetOf;

constexpr std::int64_t kNovember2026 = 1'793'491'200'000'000'000;
constexpr std::int64_t kDecember2026 = 1'796'083'200'000'000'000;

std::string golden(const std::string& name) {
  return STEPTAPE_SOURCE_DIR "/tests/golden/" + name;
}

std::vector<std::int64_t> stepsOf(const Trace& trace) {
  std::vector<std::int64_t> numbers;
  for (const TraceStep& step : trace.steps) {
    numbers.push_back(step.number);
  }
  return numbers;
}

/// Returns name, start and duration of all spans, from the first one.
std::vector<std::string> spansOf(const Trace& trace) {
  std::int64_t first = INT64_MAX;
  for (const TraceThread& thread : trace.threads) {
    first = thread.spans.empty() ? first : std::min(first, thread.spans.front().start);
  }
  std::vector<std::string> spans;
  for (const TraceThread& thread : trace.threads) {
    for (const TraceSpan& span : thread.spans) {
      spans.push_back(trace.names[span.name].text + " at " + std::to_string(span.start - first) +
                      " for " + std::to_string(span.duration));
    }
  }
  std::sort(spans.begin(), spans.end());
  return spans;
}

class GoldenProfile : public ::testing::TestWithParam<const char*> {
 protected:
  const Trace trace_ = detail::profile::readXPlane(golden(GetParam()));
};

TEST_P(GoldenProfile, HasItsStepsAndItsStart) {
  EXPECT_EQ(trace_.hostName, "node7");
  EXPECT_THAT(stepsOf(trace_), ElementsAre(0, 1, 2, 3));
  EXPECT_GT(trace_.originNanos, kNovember2026);
  EXPECT_LT(trace_.originNanos, kDecember2026);
  EXPECT_GE(trace_.steps.front().start, 0);
  EXPECT_LE(trace_.steps.back().start + trace_.steps.back().duration, trace_.duration);
  EXPECT_EQ(trace_.dropped, 0u);
}

TEST_P(GoldenProfile, BecomesJson) {
  const testing::TempDir dir;
  const std::string path = dir.string() + "/trace.json";
  detail::profile::ChromeTraceOptions options;
  options.compress = false;
  ASSERT_TRUE(detail::profile::writeChromeTrace(path, trace_, options).ok());
  const auto file = nlohmann::json::parse(test::contentOf(path), nullptr, false);
  ASSERT_FALSE(file.is_discarded());
  EXPECT_EQ(std::string(file["profile_options"]).substr(0, 4), "CAEQ");  // 08 01 10: bytes
  const std::vector<Trace> read = detail::profile::readChromeTrace(path);
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(spansOf(read[0]), spansOf(trace_));
  EXPECT_EQ(stepsOf(read[0]), stepsOf(trace_));
  EXPECT_EQ(read[0].originNanos, trace_.originNanos);
}

INSTANTIATE_TEST_SUITE_P(Of, GoldenProfile,
                         ::testing::Values("jax.xplane.pb", "tensorflow.xplane.pb"),
                         [](const auto& each) {
                           return std::string(each.param, std::string(each.param).find('.'));
                         });

TEST(GoldenTrace, OfJaxHasTheStepsAndSpansOfItsProfile) {
  const Trace profile = detail::profile::readXPlane(golden("jax.xplane.pb"));
  const std::vector<Trace> traces = detail::profile::readChromeTrace(golden("jax.trace.json.gz"));
  ASSERT_EQ(traces.size(), 1u);
  EXPECT_EQ(traces[0].dropped, 0u);
  EXPECT_EQ(stepsOf(traces[0]), stepsOf(profile));
  EXPECT_EQ(spansOf(traces[0]), spansOf(profile));
}

}  // namespace
}  // namespace steptape
