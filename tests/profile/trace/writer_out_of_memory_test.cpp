// SPDX-License-Identifier: Apache-2.0
//
// Makes each allocation of the writers of traces fail, one after the other, also those of zlib.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <new>
#include <optional>
#include <string>

#include "steptape/ranks/testing.h"

#include "base/deflater.h"
#include "profile/trace/chrome/chrome_trace.h"
#include "profile/trace/perfetto/perfetto_trace.h"
#include "profile/trace/sample_trace.h"
#include "support/allocations.h"
#include "support/content_of.h"

#include <gtest/gtest.h>

namespace steptape {
namespace {

/// Returns whether `call` throws if its allocation `n` fails; none if it has fewer.
std::optional<bool> throwsWithout(std::uint64_t n, const std::function<void()>& call) {
  bool hasThrown = false;
  FailingAllocations failing(n);
  try {
    call();
  } catch (const std::bad_alloc&) {
    hasThrown = true;
  }
  return failing.stop() == 0 ? std::nullopt : std::optional(hasThrown);
}

SampleTrace traceWithDetails() {
  SampleTrace sample;
  SpanDetails details;
  details.shapes = "[[2, 3]]";
  details.module = "layer1";
  sample.thread(1, "main").step(1, 0, 1000);
  sample.span("a name that is not short", SpanKind::kOperator, 0, 500).details =
      sample.details(details);
  sample.span("forward", SpanKind::kZone, 600, 100);
  return sample;
}

using Write = Status (*)(const std::string&, ArrayView<const Trace>);

void expectAWholeFileOrNone(Write write) {
  const testing::TempDir dir;
  const std::string path = dir.string() + "/trace.gz";
  const Trace trace = traceWithDetails().trace();
  const auto writeIt = [&] { static_cast<void>(write(path, ArrayView<const Trace>(&trace, 1))); };
  writeIt();
  const std::string whole = test::contentOf(path);
  std::uint64_t n = 0;
  for (;; ++n) {
    std::filesystem::remove(path);
    if (!throwsWithout(n, writeIt)) {
      break;
    }
    for (const auto& entry : std::filesystem::directory_iterator(dir.path())) {
      ASSERT_EQ(entry.path(), path) << "after allocation " << n;
      ASSERT_TRUE(test::contentOf(path) == whole) << "after allocation " << n;
    }
  }
  EXPECT_GT(n, 10U);
  EXPECT_TRUE(test::contentOf(path) == whole);
}

TEST(TraceWriters, LeaveAWholeFileOrNoneWhicheverAllocationFails) {
  expectAWholeFileOrNone([](const std::string& path, ArrayView<const Trace> traces) {
    return detail::profile::writeChromeTrace(path, traces);
  });
  expectAWholeFileOrNone([](const std::string& path, ArrayView<const Trace> traces) {
    return detail::profile::writePerfettoTrace(path, traces);
  });
}

TEST(Deflater, ThrowsIfZlibGetsNoMemory) {
  using detail::base::Deflater;
  std::string out;
  const auto make = [&out] {
    const Deflater deflater(Deflater::Form::kGzip, Z_DEFAULT_STRATEGY, 1 << 16, &out);
  };
  std::uint64_t n = 0;
  while (const std::optional<bool> hasThrown = throwsWithout(n, make)) {
    EXPECT_TRUE(*hasThrown);
    ++n;
  }
  EXPECT_GT(n, 1U);  // its state, and its tables
}

}  // namespace
}  // namespace steptape
