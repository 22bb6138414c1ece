// SPDX-License-Identifier: Apache-2.0
// Scalars that share events with other values or with each other. The expected points are those of
// TensorBoard 2.21's EventAccumulators, with which tests/interop/reader_test.py compares more
// cases.
#include <string>
#include <vector>

#include "log/reader/run_fixture.h"

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

class SeriesBatchTest : public RunFixture {
 protected:
  static event::Value simpleNumber(const std::string& tag, float number) {
    event::Value value;
    value.tag = tag;
    value.data = number;
    return value;
  }
  static event::Value picture(const std::string& tag) {
    event::Value value;
    value.tag = tag;
    value.data = event::SummaryImage{1, 1, 3, "PNG"};
    return value;
  }
};

TEST_F(SeriesBatchTest, KeepsEachScalarOnceWhetherItsEventHasOtherValuesOrNot) {
  writeEvents(kFirst, {eventAt(1, event::Summary{{simpleNumber("loss", 1), picture("sample")}}),
                       eventAt(2, event::Summary{{simpleNumber("loss", 2), picture("sample")}}),
                       eventAt(3, event::Summary{{simpleNumber("loss", 3)}})});
  const RunReader run = read();
  EXPECT_THAT(points(run, "loss"), ElementsAre(Pair(1, 1), Pair(2, 2), Pair(3, 3)));
  EXPECT_THAT(run.tags().at("loss").values, IsEmpty());
  EXPECT_THAT(steps(run, "sample"), ElementsAre(1, 2));
}

TEST_F(SeriesBatchTest, KeepsEachScalarOnceIfOnlyTheSecondHasMetadata) {
  writeEvents(kFirst, {tensorScalar("loss", 1, 1, false), simpleScalar("loss", 2, 2)});
  const RunReader run = read();
  EXPECT_THAT(points(run, "loss"), ElementsAre(Pair(1, 1), Pair(2, 2)));
  EXPECT_THAT(run.tags().at("loss").values, IsEmpty());
}

TEST_F(SeriesBatchTest, KeepsBothValuesOfATagInAnEventWithADecreasedStep) {
  writeEvents(kFirst,
              {version("brain.Event:1"), simpleScalar("loss", 1, 1), simpleScalar("loss", 2, 2),
               simpleScalar("loss", 3, 3),
               eventAt(2, event::Summary{{simpleNumber("loss", 20), simpleNumber("loss", 21)}})});
  EXPECT_THAT(points("loss"), ElementsAre(Pair(1, 1), Pair(2, 20), Pair(2, 21)));
}

}  // namespace
}  // namespace steptape
