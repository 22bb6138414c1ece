// SPDX-License-Identifier: Apache-2.0
//
// Tensors that are in flight from a device while they are logged.
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "steptape/log/summary_writer.h"

#include "log/writer/fake_device.h"
#include "log/writer/run_contents.h"
#include "log/writer/writer_fixture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::SizeIs;

/// A number on a FakeDevice.
struct DeviceScalar {
  FakeDevice* device;
  float value;
};

}  // namespace

template <>
struct ScalarTraits<DeviceScalar> {
  static double value(const DeviceScalar& scalar) { return static_cast<double>(scalar.value); }
  static std::optional<TensorView> inFlight(const DeviceScalar& scalar) {
    return scalar.device->copy({scalar.value}, {});
  }
};

namespace {

class InFlightTest : public WriterFixture {
 protected:
  ~InFlightTest() override { device_.finish(); }

  void finishAndFlush() {
    device_.finish();
    expectOk(writer_.flush());
  }

  FakeDevice device_;
  SummaryWriter writer_ = open();
};

TEST_F(InFlightTest, AScalarIsTakenWithoutWaitingForTheDevice) {
  writer_.addScalar("loss", DeviceScalar{&device_, 0.5F}, 1);
  writer_.addScalar(writer_.scalarTag("loss"), DeviceScalar{&device_, 0.25F}, 2);
  finishAndFlush();
  EXPECT_THAT(scalarsIn(dir_.string()).at("loss"), ElementsAre(Pair(1, 0.5F), Pair(2, 0.25F)));
}

TEST_F(InFlightTest, ScalarsFromTheDeviceKeepTheirPlaceAmongTheOthers) {
  for (std::int64_t step = 0; step < 100; ++step) {
    const auto value = static_cast<float>(step);
    if (step % 3 == 0) {
      writer_.addScalar("loss", DeviceScalar{&device_, value}, step);
    } else {
      writer_.addScalar("loss", static_cast<double>(value), step);
    }
  }
  finishAndFlush();
  const auto points = scalarsIn(dir_.string()).at("loss");
  ASSERT_THAT(points, SizeIs(100));
  for (std::int64_t step = 0; step < 100; ++step) {
    EXPECT_THAT(points[static_cast<std::size_t>(step)], Pair(step, static_cast<float>(step)));
  }
  EXPECT_EQ(writer_.stats().stepRegressions, 0U);
}

TEST_F(InFlightTest, CurvesOfOneChartAreTakenWithoutWaitingForTheDevice) {
  const DeviceScalar loss{&device_, 0.5F};
  writer_.addScalars("loss", {{"train", loss}, {"test", 0.25}}, 1);
  const std::vector<std::pair<std::string, DeviceScalar>> later{{"train", {&device_, 0.75F}}};
  writer_.addScalars("loss", later, 2);
  finishAndFlush();
  EXPECT_THAT(scalarsIn(dir_.string() + "/loss/train").at("loss"),
              ElementsAre(Pair(1, 0.5F), Pair(2, 0.75F)));
  EXPECT_THAT(scalarsIn(dir_.string() + "/loss/test").at("loss"), ElementsAre(Pair(1, 0.25F)));
}

TEST_F(InFlightTest, ABatchTakesScalarsFromTheDevice) {
  {
    StepBatch batch = writer_.atStep(7);
    batch.add("before", 1);
    batch.add("loss", DeviceScalar{&device_, 0.5F});
    batch.add("after", 2);
  }
  finishAndFlush();
  const Curves curves = scalarsIn(dir_.string());
  EXPECT_THAT(curves.at("loss"), ElementsAre(Pair(7, 0.5F)));
  EXPECT_THAT(curves.at("before"), ElementsAre(Pair(7, 1.0F)));
  EXPECT_THAT(curves.at("after"), ElementsAre(Pair(7, 2.0F)));
}

TEST_F(InFlightTest, TheBackgroundThreadIsTheOneThatWaits) {
  writer_.addScalar("loss", DeviceScalar{&device_, 0.5F}, 0);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!device_.waited() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  // This thread has continued although nothing has arrived.
  EXPECT_TRUE(device_.waited());
  finishAndFlush();
}

TEST_F(InFlightTest, AHistogramIsCountedAfterItsElementsHaveArrived) {
  writer_.addHistogram("weights", device_.copy({1, 2, 3, 4}, {4}), 0);
  finishAndFlush();
  const std::vector<event::Value> values = valuesIn(dir_.string());
  ASSERT_THAT(values, SizeIs(1));
  EXPECT_EQ(std::get<event::SummaryHistogram>(values[0].data).min, 1);
}

TEST_F(InFlightTest, AValueThatNeverArrivesIsReportedAndCounted) {
  writer_.addScalar("loss", DeviceScalar{&device_, 0.5F}, 0);
  device_.fail();
  finishAndFlush();
  EXPECT_EQ(writer_.stats().droppedScalars, 1U);
  EXPECT_THAT(reports(), ElementsAre(HasSubstr("the device was lost")));
}

}  // namespace
}  // namespace steptape
