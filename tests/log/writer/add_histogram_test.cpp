// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <string>
#include <vector>

#include "steptape/log/summary_writer.h"
#include "steptape/log/values.h"

#include "log/writer/fake_device.h"
#include "log/writer/run_contents.h"
#include "log/writer/writer_fixture.h"
#include "support/expect_error.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using test::expectInvalidArgument;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class AddHistogramTest : public WriterFixture {
 protected:
  /// Returns rows of left edge, right edge and count, of the only value in the run.
  std::vector<double> buckets() const {
    const std::vector<event::Value> values = valuesIn(dir_.string());
    EXPECT_THAT(values, SizeIs(1));
    HistogramValue histogram;
    EXPECT_TRUE(decodeHistogram(values.at(0), &histogram).ok());
    std::vector<double> numbers;
    for (const HistogramBucket& bucket : histogram.buckets) {
      numbers.insert(numbers.end(), {bucket.left, bucket.right, bucket.count});
    }
    return numbers;
  }
};

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST_F(AddHistogramTest, CountsInBucketsOfEqualWidth) {
  HistogramOptions options;
  options.bins = 2;
  SummaryWriter writer = open();
  writer.addHistogram("h", std::vector<float>{0, 1, 2, 4}, 0, options);
  ASSERT_TRUE(writer.close().ok());
  EXPECT_THAT(buckets(), ElementsAre(0, 2, 2, 2, 4, 2));
}

TEST_F(AddHistogramTest, CountsBetweenAndOutsideTheEdges) {
  HistogramOptions options;
  options.bins = {0.0, 1.0, 10.0};
  SummaryWriter writer = open();
  writer.addHistogram("h", std::vector<std::int32_t>{-3, 0, 5, 10, 20}, 0, options);
  ASSERT_TRUE(writer.close().ok());
  EXPECT_THAT(buckets(), ElementsAre(-3, 0, 1, 0, 1, 1, 1, 10, 2, 10, 20, 1));
}

TEST_F(AddHistogramTest, CountsByARuleAndJoinsNeighbors) {
  HistogramOptions options;
  options.bins = "sqrt";
  options.maxBins = 2;
  SummaryWriter writer = open();
  writer.addHistogram("h", std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7, 8}, 0, options);
  ASSERT_TRUE(writer.close().ok());
  // Three buckets of 8 / 3 were made, of which two are joined.
  EXPECT_THAT(buckets(), ElementsAre(0, 16.0 / 3, 6, 16.0 / 3, 8, 3));
}

TEST_F(AddHistogramTest, ReportsNonFiniteValuesOnce) {
  SummaryWriter writer = open();
  writer.addHistogram("h", std::vector<float>{1, kNan, kInfinity, kInfinity, -kInfinity}, 0);
  writer.addHistogram("h", std::vector<float>{kNan, kNan}, 1);
  writer.addHistogram("other", std::vector<float>{-kInfinity}, 1);
  ASSERT_TRUE(writer.close().ok());
  EXPECT_THAT(reports(),
              ElementsAre("addHistogram \"h\": left out 1 NaN, 2 +Inf and 1 -Inf of 5 values; "
                          "further ones of this tag are not reported",
                          "addHistogram \"other\": left out 0 NaN, 0 +Inf and 1 -Inf of 1 "
                          "values; further ones of this tag are not reported"));
}

TEST_F(AddHistogramTest, WritesNothingIfItRejectsTheCall) {
  HistogramOptions options;
  options.bins = "knuth";
  SummaryWriter writer = open();
  EXPECT_THROW(writer.addHistogram("h", std::vector<float>{1}, 0, options), Error);
  options.bins = {1.0, 1.0};
  expectInvalidArgument(
      [&] { writer.addHistogram("h", std::vector<float>{1}, 0, options); },
      "addHistogram \"h\": got bins[1] = 1.000000 after 1.000000; expected increasing edges");
  ASSERT_TRUE(writer.close().ok());
  EXPECT_THAT(valuesIn(dir_.string()), IsEmpty());
}

/// Elements that arrive when the backend waits for them.
TEST_F(AddHistogramTest, CountsTensorsThatAreInFlightWhenTheyHaveArrived) {
  HistogramOptions options;
  options.bins = 2;
  FakeDevice device;
  SummaryWriter writer = open();
  writer.addHistogram("h", device.copy({1, 3, 3, kNan}, {4}), 0, options);
  device.finish();
  ASSERT_TRUE(writer.close().ok());
  EXPECT_THAT(buckets(), ElementsAre(1, 2, 1, 2, 3, 2));
  EXPECT_THAT(reports(), SizeIs(1));
}

}  // namespace
}  // namespace steptape
