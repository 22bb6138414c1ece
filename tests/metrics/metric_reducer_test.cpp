// SPDX-License-Identifier: Apache-2.0
#include "metrics/reduce/metric_reducer.h"

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "steptape/ranks/testing.h"

#include "ranks/communicator/counting_communicator.h"
#include "support/expect_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::detail::metrics {
namespace {

using ::steptape::test::CountingCommunicator;
using ::steptape::test::expectError;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

ReducedOptions weight(double value) {
  ReducedOptions options;
  options.weight = value;
  return options;
}

/// One rank's reducer, with helpers for the tests.
class RankReducer {
 public:
  explicit RankReducer(const std::shared_ptr<Communicator>& world)
      : counter_(std::make_shared<CountingCommunicator>(world)), reducer_(counter_) {}

  int rank() const { return counter_->rank(); }
  int ranks() const { return counter_->size(); }

  void add(const std::string& tag, double value, std::int64_t step,
           const ReducedOptions& options = {}) {
    reducer_.add(reducer_.idOf(tag, options), value, step, options);
  }

  /// Returns "tag=mean" for each metric, in the order of the result.
  std::vector<std::string> reduce(std::int64_t step) {
    reducer_.start(step);
    return finish();
  }

  void start(std::int64_t step) { reducer_.start(step); }
  bool wait() { return reducer_.wait(); }

  std::vector<std::string> finish() {
    reducer_.finish();
    std::vector<std::string> means;
    const auto totals = reducer_.totals();
    for (std::size_t place = 0; place < totals->layout->size(); ++place) {
      std::string text = std::to_string(totals->at(place).mean());
      text.erase(text.find_last_not_of('0') + 1);
      means.push_back(totals->layout->metrics[place].tag + "=" + text);
    }
    return means;
  }

  /// Returns the only metric of a step.
  MetricMoments reduceOne(std::int64_t step) {
    EXPECT_EQ(reduce(step).size(), 1U);
    return reducer_.totals()->at(0);
  }

  double onlyMean() const { return reducer_.totals()->at(0).mean(); }

  /// Returns all ranks' values of a metric after reduce(), ascending.
  std::vector<double> rankValues(std::size_t at) {
    std::vector<RankValue> values;
    reducer_.rankValues(at, values);
    std::vector<double> numbers;
    for (const RankValue& value : values) {
      numbers.push_back(value.value);
    }
    return numbers;
  }

  void expectMismatch(std::int64_t step, const std::string& part) {
    expectError(ErrorCode::kRankMismatch, part, [&] { reduce(step); });
  }

  /// A single rank needs no collectives.
  int collectives() const { return counter_->collectives(); }
  int ifSeveralRanks(int collectives) const { return counter_->size() > 1 ? collectives : 0; }
  std::size_t pendingCount() const { return reducer_.pendingCount(); }
  std::string node() const { return counter_->nodeName(); }

 private:
  std::shared_ptr<CountingCommunicator> counter_;
  MetricReducer reducer_;
};

void onRanks(int count, const std::function<void(RankReducer&)>& body) {
  testing::runRanksShared(count, [&](const std::shared_ptr<Communicator>& world) {
    RankReducer reducer(world);
    body(reducer);
  });
}

class MetricReducerOnRanks : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, MetricReducerOnRanks, ::testing::Values(1, 2, 3, 7));

TEST_P(MetricReducerOnRanks, WeighsTheMean) {
  double sum = 0;
  double weights = 0;
  for (int rank = 0; rank < GetParam(); ++rank) {
    sum += rank * (rank + 1.0);
    weights += rank + 1.0;
  }
  onRanks(GetParam(), [&](RankReducer& reducer) {
    reducer.add("loss", reducer.rank(), 5, weight(reducer.rank() + 1));
    const MetricMoments total = reducer.reduceOne(5);
    EXPECT_EQ(total.weight, weights);
    EXPECT_EQ(total.mean(), sum / weights);
  });
}

TEST_P(MetricReducerOnRanks, NeedsOneCollectiveForAllMetricsOfAStep) {
  onRanks(GetParam(), [](RankReducer& reducer) {
    for (int step = 0; step < 20; ++step) {
      for (int metric = 0; metric < 10; ++metric) {
        reducer.add("metric" + std::to_string(metric), metric, step);
      }
      const int before = reducer.collectives();
      reducer.reduce(step);
      EXPECT_EQ(reducer.collectives() - before, reducer.ifSeveralRanks(1)) << "step " << step;
    }
  });
}

TEST_P(MetricReducerOnRanks, GrowsForManyMetricsAndThenNeedsOneCollectiveAgain) {
  onRanks(GetParam(), [](RankReducer& reducer) {
    for (int step = 0; step < 3; ++step) {
      for (int metric = 0; metric < 1000; ++metric) {
        reducer.add("metric" + std::to_string(metric), metric + reducer.rank(), step);
      }
      const int before = reducer.collectives();
      const std::vector<std::string> means = reducer.reduce(step);
      ASSERT_EQ(means.size(), 1000U);
      EXPECT_THAT(means[0], ::testing::StartsWith("metric0="));
      EXPECT_THAT(means[999], ::testing::StartsWith("metric999="));
      EXPECT_EQ(reducer.collectives() - before, reducer.ifSeveralRanks(step == 0 ? 2 : 1))
          << "step " << step;
    }
  });
}

TEST(MetricReducer, FillsItsFirstCapacityInOneCollectiveAndGrowsAtTheNextMetric) {
  onRanks(2, [](RankReducer& reducer) {
    for (int metric = 0; metric < 15; ++metric) {
      reducer.add("metric" + std::to_string(metric), metric, 0);
    }
    EXPECT_EQ(reducer.reduce(0).size(), 15U);
    EXPECT_EQ(reducer.collectives(), 1);
    for (int metric = 0; metric < 16; ++metric) {
      reducer.add("metric" + std::to_string(metric), metric, 1);
    }
    EXPECT_EQ(reducer.reduce(1).size(), 16U);
    EXPECT_EQ(reducer.collectives(), 3);
  });
}

TEST_P(MetricReducerOnRanks, TakesStatisticsOnInTwoCollectivesAndThenNeedsOneAgain) {
  onRanks(GetParam(), [&](RankReducer& reducer) {
    ReducedOptions options;
    for (int step = 0; step < 6; ++step) {
      options.max = step >= 2;
      reducer.add("loss", reducer.rank(), step, options);
      const int before = reducer.collectives();
      const MetricMoments total = reducer.reduceOne(step);
      EXPECT_EQ(total.mean(), (GetParam() - 1) / 2.0);
      EXPECT_EQ(reducer.collectives() - before, reducer.ifSeveralRanks(step == 2 ? 2 : 1))
          << "step " << step;
      if (step >= 2) {
        EXPECT_EQ(total.max, GetParam() - 1);
      }
    }
  });
}

TEST(MetricReducerMismatch, IsFoundForEverySetOfStepsThatDiffer) {
  // Steps of three ranks: the check of sums must not mistake the rank in the middle for all ranks.
  for (int first = 0; first < 4; ++first) {
    for (int second = 0; second < 4; ++second) {
      const bool agree = first == second;
      onRanks(3, [&](RankReducer& reducer) {
        const int step = reducer.rank() == 0 ? first : second;
        reducer.add("loss", 1, step);
        if (agree) {
          EXPECT_EQ(reducer.reduceOne(step).weight, 3);
        } else {
          reducer.expectMismatch(step, "(2 ranks differ from rank 0)");
        }
      });
    }
  }
}

TEST(MetricReducerMismatch, IsAlsoDetectedInMoments) {
  onRanks(3, [](RankReducer& reducer) {
    ReducedOptions options;
    options.min = true;
    reducer.add("loss", 1, 0, options);
    reducer.reduceOne(0);
    reducer.add(reducer.rank() == 1 ? "acc" : "loss", 1, 1, options);
    reducer.expectMismatch(1, "reduces 'acc' at step 1");
  });
}

TEST(MetricReducer, AcceptsAnyOrderOfMetrics) {
  onRanks(2, [](RankReducer& reducer) {
    for (int step = 0; step < 4; ++step) {
      const bool reversed = (reducer.rank() + step) % 2 == 1;
      reducer.add(reversed ? "b" : "a", reversed ? 2 : 1, step);
      reducer.add(reversed ? "a" : "b", reversed ? 1 : 2, step);
      EXPECT_THAT(reducer.reduce(step), ElementsAre("a=1.", "b=2."));
    }
  });
}

TEST(MetricReducer, CountsSeveralValuesOfOneTagEachWithItsWeight) {
  onRanks(2, [](RankReducer& reducer) {
    ReducedOptions options = weight(3);
    options.argmaxRank = true;
    reducer.add("loss", 1, 0, options);
    reducer.add("loss", 5, 0, weight(1));
    const MetricMoments total = reducer.reduceOne(0);
    EXPECT_EQ(total.mean(), 2);
    EXPECT_EQ(total.weight, 8);
    EXPECT_EQ(total.max, 5);
    EXPECT_EQ(total.maxRank, 0);
  });
}

TEST(MetricReducer, KeepsMetricsOfOtherSteps) {
  onRanks(2, [](RankReducer& reducer) {
    reducer.add("loss", 1, 1);
    reducer.add("loss", 2, 2);
    EXPECT_THAT(reducer.reduce(2), ElementsAre("loss=2."));
    EXPECT_EQ(reducer.pendingCount(), 1U);
    EXPECT_THAT(reducer.reduce(1), ElementsAre("loss=1."));
    EXPECT_EQ(reducer.pendingCount(), 0U);
  });
}

TEST(MetricReducer, AcceptsAStepWithoutMetrics) {
  onRanks(3, [](RankReducer& reducer) { EXPECT_THAT(reducer.reduce(0), IsEmpty()); });
}

TEST(MetricReducer, PropagatesNanWithoutAMismatch) {
  onRanks(2, [](RankReducer& reducer) {
    for (int step = 0; step < 2; ++step) {
      ReducedOptions options;
      options.argmaxRank = step == 1;
      const bool isNan = reducer.rank() == 1;
      reducer.add("loss", isNan ? std::numeric_limits<double>::quiet_NaN() : 1, step, options);
      const MetricMoments total = reducer.reduceOne(step);
      EXPECT_TRUE(std::isnan(total.mean()));
      EXPECT_EQ(total.maxRank, step == 1 ? 1 : -1);
    }
  });
}

TEST(MetricReducer, HasNoValueIfAllWeightsAreZero) {
  onRanks(2, [](RankReducer& reducer) {
    reducer.add("loss", 1, 0, weight(0));
    EXPECT_EQ(reducer.reduceOne(0).weight, 0);
  });
}

TEST(MetricReducerMismatch, NamesRankNodeTagAndStepOnEveryRank) {
  onRanks(3, [](RankReducer& reducer) {
    reducer.add("loss", 1, 5);
    if (reducer.rank() == 2) {
      reducer.add("acc", 1, 5);
    }
    reducer.expectMismatch(5, "reduce: rank 2 (" + reducer.node() +
                                  ") reduces 'acc' at step 5, which rank 0 (" + reducer.node() +
                                  ") does not; every rank must queue the same metrics");
  });
}

TEST(MetricReducerMismatch, NamesATagThatOnlyTheRootHas) {
  onRanks(2, [](RankReducer& reducer) {
    if (reducer.rank() == 0) {
      reducer.add("loss", 1, 5);
    }
    reducer.expectMismatch(5, "rank 0 (" + reducer.node() +
                                  ") reduces 'loss' at step 5, which rank 1 (" + reducer.node() +
                                  ") does not");
  });
}

TEST(MetricReducerMismatch, DistinguishesSteps) {
  onRanks(2, [](RankReducer& reducer) {
    const int step = 5 + reducer.rank();
    reducer.add("loss", 1, step);
    reducer.expectMismatch(step, "rank 1 (" + reducer.node() +
                                     ") reduces 'loss' at step 6, but rank 0 (" + reducer.node() +
                                     ") 'loss' at step 5");
  });
}

TEST(MetricReducerMismatch, DistinguishesStatistics) {
  onRanks(2, [](RankReducer& reducer) {
    ReducedOptions options;
    options.min = true;
    options.std = reducer.rank() == 1;
    reducer.add("loss", 1, 5, options);
    reducer.expectMismatch(5, "reduces 'loss' at step 5 to mean, min, std, but rank 0 (" +
                                  reducer.node() + ") to mean, min");
  });
}

TEST(MetricReducerMismatch, CountsTheRanksThatDiffer) {
  onRanks(7, [](RankReducer& reducer) {
    reducer.add(reducer.rank() >= 3 ? "other" : "loss", 1, 5);
    reducer.expectMismatch(5, "rank 3 (" + reducer.node() + ") reduces 'other'");
    reducer.add(reducer.rank() >= 3 ? "other" : "loss", 1, 6);
    reducer.expectMismatch(6, "(4 ranks differ from rank 0)");
  });
}

TEST(MetricReducerMismatch, IsAlsoDetectedIfOnlySomeRanksExceedTheCapacity) {
  onRanks(2, [](RankReducer& reducer) {
    const int metrics = reducer.rank() == 0 ? 3 : 300;
    for (int metric = 0; metric < metrics; ++metric) {
      reducer.add("metric" + std::to_string(metric), metric, 0);
    }
    reducer.expectMismatch(0, "rank 1 (" + reducer.node() + ") reduces 'metric10' at step 0");
  });
}

TEST(MetricReducerMismatch, DiscardsQueuedMetricsAndLeavesTheReducerUsable) {
  onRanks(3, [](RankReducer& reducer) {
    reducer.add(reducer.rank() == 1 ? "b" : "a", 1, 0);
    reducer.add("later", 1, 1);
    reducer.expectMismatch(0, "rank 1");
    EXPECT_EQ(reducer.pendingCount(), 0U);
    reducer.add("loss", reducer.rank(), 1);
    EXPECT_THAT(reducer.reduce(1), ElementsAre("loss=1."));
  });
}

ReducedOptions percentile(double percent) {
  ReducedOptions options;
  options.percentiles = {percent};
  return options;
}

TEST_P(MetricReducerOnRanks, GathersOnTheRootTheValuesOfAllRanksThatHaveOne) {
  std::vector<double> values;
  for (int rank = 1; rank < GetParam(); ++rank) {
    values.push_back(rank);
  }
  onRanks(GetParam(), [&](RankReducer& reducer) {
    ReducedOptions options = percentile(50);
    options.weight = reducer.rank();  // 0: the root has no value.
    reducer.add("loss", reducer.rank(), 5, options);
    reducer.add("another", 10 * reducer.rank(), 5);
    reducer.add("time", 5, 5, percentile(50));
    reducer.reduce(5);
    const std::vector<double> times(static_cast<std::size_t>(GetParam()), 5);
    const bool isRoot = reducer.rank() == 0;
    EXPECT_EQ(reducer.rankValues(0), isRoot ? values : std::vector<double>());
    EXPECT_EQ(reducer.rankValues(1), isRoot ? times : std::vector<double>());
  });
}

TEST_P(MetricReducerOnRanks, GathersDuringTheAllreduceWhileRankValuesAreRequested) {
  onRanks(GetParam(), [](RankReducer& reducer) {
    // By step: no rank values; the first ones are gathered after agreement; the step after the last
    // one gathers nothing.
    const std::vector<int> wanted{1, 2, 2, 2, 1};
    for (int step = 0; step < 5; ++step) {
      const bool gathers = step == 1 || step == 2;
      reducer.add("loss", reducer.rank(), step, gathers ? percentile(50) : ReducedOptions());
      const int before = reducer.collectives();
      EXPECT_THAT(reducer.reduce(step), ::testing::SizeIs(1));
      EXPECT_EQ(reducer.collectives() - before,
                reducer.ifSeveralRanks(wanted[static_cast<std::size_t>(step)]))
          << "step " << step;
    }
  });
}

TEST_P(MetricReducerOnRanks, FinishesAStepWhileTheNextOneIsBeingQueued) {
  onRanks(GetParam(), [](RankReducer& reducer) {
    for (int step = 0; step < 20; ++step) {
      reducer.add("loss", step + reducer.rank(), step);
      if (step > 0) {
        EXPECT_THAT(reducer.finish(), ElementsAre(::testing::StartsWith("loss=")));
        EXPECT_EQ(reducer.onlyMean(), step - 1 + (reducer.ranks() - 1) / 2.0);
      }
      const int before = reducer.collectives();
      reducer.start(step);
      EXPECT_EQ(reducer.collectives() - before, reducer.ifSeveralRanks(1));
    }
    reducer.finish();
  });
}

TEST(MetricReducerUnderWay, NeedsNoFurtherCollectiveToFinishEvenIfTheMessageWasTooSmall) {
  onRanks(2, [](RankReducer& reducer) {
    for (int metric = 0; metric < 100; ++metric) {
      ReducedOptions options = percentile(50);
      options.max = true;
      reducer.add("metric" + std::to_string(metric), metric, 0, options);
    }
    reducer.start(0);
    const int before = reducer.collectives();
    EXPECT_TRUE(reducer.wait());
    EXPECT_THAT(reducer.finish(), ::testing::SizeIs(100));
    EXPECT_EQ(reducer.collectives(), before);
  });
}

TEST(MetricReducerUnderWay, ReportsADisagreementOnEveryRankWhenFinished) {
  onRanks(3, [](RankReducer& reducer) {
    // The rank that differs also exceeds the capacity: only this rank reads the result in start().
    const int metrics = reducer.rank() == 1 ? 40 : 1;
    for (int metric = 0; metric < metrics; ++metric) {
      reducer.add("metric" + std::to_string(metric), metric, 7);
    }
    reducer.start(7);
    EXPECT_FALSE(reducer.wait());
    reducer.add("later", 1, 8);
    expectError(ErrorCode::kRankMismatch,
                "rank 1 (" + reducer.node() + ") reduces 'metric1' at step 7",
                [&] { reducer.finish(); });
    EXPECT_EQ(reducer.pendingCount(), 0U);
    reducer.add("loss", reducer.rank(), 9);
    EXPECT_THAT(reducer.reduce(9), ElementsAre("loss=1."));
  });
}

TEST(MetricReducerMismatch, IsDetectedIfOnlyOneRankRequestsRankValues) {
  onRanks(2, [](RankReducer& reducer) {
    for (int step = 0; step < 2; ++step) {
      // At step 1, both ranks send their values immediately; the one without any sends nothing.
      const bool asks = step == 0 || reducer.rank() == 0;
      reducer.add("loss", 1, step, asks ? percentile(90) : ReducedOptions());
      if (step == 0) {
        reducer.reduce(0);
      } else {
        reducer.expectMismatch(
            1, "to mean, but rank 0 (" + reducer.node() + ") to mean, percentiles or histogram");
      }
    }
    reducer.add("loss", 3, 2, percentile(90));
    reducer.reduce(2);
    if (reducer.rank() == 0) {
      EXPECT_THAT(reducer.rankValues(0), ElementsAre(3, 3));
    }
  });
}

TEST(MetricReducer, LetsTheRanksChooseDifferentPercentiles) {
  onRanks(2, [](RankReducer& reducer) {
    reducer.add("loss", 1, 0, percentile(10.0 * reducer.rank()));
    EXPECT_THAT(reducer.reduce(0), ElementsAre("loss=1."));
  });
}

TEST(MetricReducerArguments, RefuseAnEmptyTag) {
  RankReducer reducer(std::make_shared<Communicator>());
  expectError(ErrorCode::kInvalidArgument, "addReduced: got an empty tag",
              [&] { reducer.add("", 1, 0); });
}

TEST(MetricReducerArguments, RejectAnInvalidWeight) {
  RankReducer reducer(std::make_shared<Communicator>());
  expectError(ErrorCode::kInvalidArgument,
              "addReduced \"loss\": got weight -1.000000; expected a finite number of at least 0",
              [&] { reducer.add("loss", 1, 0, weight(-1)); });
  expectError(ErrorCode::kInvalidArgument, "addReduced \"loss\": got weight inf",
              [&] { reducer.add("loss", 1, 0, weight(std::numeric_limits<double>::infinity())); });
  EXPECT_EQ(reducer.pendingCount(), 0U);
}

TEST(MetricReducerArguments, RefuseAPercentileBeyondAHundred) {
  RankReducer reducer(std::make_shared<Communicator>());
  expectError(ErrorCode::kInvalidArgument,
              "addReduced \"loss\": got percentile 101.000000; expected 0 to 100",
              [&] { reducer.add("loss", 1, 0, percentile(101)); });
  expectError(ErrorCode::kInvalidArgument, "addReduced \"loss\": got percentile nan", [&] {
    reducer.add("loss", 1, 0, percentile(std::numeric_limits<double>::quiet_NaN()));
  });
}

TEST(MetricReducerArguments, LimitTheNumberOfQueuedMetrics) {
  RankReducer reducer(std::make_shared<Communicator>());
  for (std::size_t step = 0; step < MetricQueue::kMaxMetrics; ++step) {
    reducer.add("loss", 1, static_cast<std::int64_t>(step));
  }
  expectError(ErrorCode::kFailedPrecondition,
              "addReduced: got more than 131072 metrics without reduce(), the oldest for step 0",
              [&] { reducer.add("loss", 1, 1 << 20); });
}

}  // namespace
}  // namespace steptape::detail::metrics
