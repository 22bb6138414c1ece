// SPDX-License-Identifier: Apache-2.0
// The expected points are those that tensorboard.backend.event_processing.reservoir.Reservoir of
// TensorBoard 2.21, on Python 3.11, keeps of the same numbers.
#include "log/reader/reservoir.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include <gmock/gmock.h>

namespace steptape::detail::log {
namespace {

using ::testing::ElementsAre;

/// A reservoir with the numbers that it has kept.
class Kept {
 public:
  explicit Kept(std::size_t maxPoints) : reservoir_(maxPoints) {}

  Kept& add(int begin, int end) {
    for (int number = begin; number < end; ++number) {
      if (const auto index = reservoir_.makeRoom(numbers_.size())) {
        numbers_.erase(numbers_.begin() + static_cast<std::ptrdiff_t>(*index));
      }
      numbers_.push_back(number);
    }
    return *this;
  }
  Kept& purgeFrom(int first) {
    const std::size_t before = numbers_.size();
    numbers_.erase(std::remove_if(numbers_.begin(), numbers_.end(),
                                  [=](int number) { return number >= first; }),
                   numbers_.end());
    reservoir_.purged(before, numbers_.size());
    return *this;
  }
  const std::vector<int>& numbers() const { return numbers_; }

 private:
  Reservoir reservoir_;
  std::vector<int> numbers_;
};

TEST(Reservoir, KeepsAllUntilItIsFull) {
  EXPECT_THAT(Kept(10).add(0, 10).numbers(), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_THAT(Kept(10).add(0, 11).numbers(), ElementsAre(0, 1, 2, 3, 4, 5, 7, 8, 9, 10));
}

TEST(Reservoir, KeepsWhatTensorBoardKeeps) {
  EXPECT_THAT(Kept(10).add(0, 100).numbers(), ElementsAre(3, 20, 24, 32, 37, 49, 52, 53, 67, 99));
  EXPECT_THAT(Kept(5).add(0, 1000).numbers(), ElementsAre(304, 668, 784, 929, 999));
}

TEST(Reservoir, KeepsThePointsOfALongSeries) {
  const Kept kept = Kept(1000).add(0, 5000);
  ASSERT_EQ(kept.numbers().size(), 1000U);
  EXPECT_EQ(std::accumulate(kept.numbers().begin(), kept.numbers().end(), 0), 2508125);
  EXPECT_THAT(std::vector<int>(kept.numbers().begin(), kept.numbers().begin() + 5),
              ElementsAre(5, 18, 24, 40, 42));
  EXPECT_THAT(std::vector<int>(kept.numbers().end() - 5, kept.numbers().end()),
              ElementsAre(4976, 4977, 4991, 4997, 4999));
}

TEST(Reservoir, AlwaysKeepsTheLast) {
  EXPECT_THAT(Kept(1).add(0, 50).numbers(), ElementsAre(49));
}

TEST(Reservoir, ContinuesWithTheShareThatAPurgeLeft) {
  EXPECT_THAT(Kept(10).add(0, 50).purgeFrom(20).add(50, 120).purgeFrom(30).add(120, 200).numbers(),
              ElementsAre(11, 125, 155, 159, 166, 167, 179, 185, 192, 199));
}

// A purge leaves half of five points: two and a half are rounded to two.
TEST(Reservoir, RoundsHalvesToEven) {
  EXPECT_THAT(Kept(4).add(0, 5).purgeFrom(2).add(5, 15).numbers(), ElementsAre(1, 5, 8, 14));
}

TEST(Reservoir, StartsOverWhenAllWasPurged) {
  EXPECT_THAT(Kept(10).add(0, 20).purgeFrom(0).add(20, 60).numbers(),
              ElementsAre(20, 21, 32, 36, 39, 41, 43, 48, 57, 59));
}

}  // namespace
}  // namespace steptape::detail::log
