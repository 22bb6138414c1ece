// SPDX-License-Identifier: Apache-2.0
// The statistics that DistributedWriter writes of a metric in addition to its mean.

#include <array>
#include <string>
#include <vector>

#include "steptape/log/values.h"

#include "metrics/writer_on_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using test::Points;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

class ReducedStatistics : public test::WriterOnRanks {
 protected:
  /// Returns the layout that TensorBoard shows: the last one.
  CustomScalarsLayout layout() const {
    CustomScalarsLayout layout;
    decodeLayout(values().at("custom_scalars__config__").back(), &layout).throwIfError();
    return layout;
  }

  std::size_t layoutsWritten() const { return values().at("custom_scalars__config__").size(); }
};

ReducedOptions band() {
  ReducedOptions options;
  options.band = true;
  return options;
}

/// Returns "category: title title" for each category.
std::vector<std::string> outline(const CustomScalarsLayout& layout) {
  std::vector<std::string> lines;
  for (const CustomScalarsCategory& category : layout.categories) {
    lines.push_back(category.title + ":");
    for (const CustomScalarsChart& chart : category.charts) {
      lines.back() += " " + chart.title;
    }
  }
  return lines;
}

TEST_F(ReducedStatistics, HaveTheWeightedSum) {
  onRanks(3, [](DistributedWriter& writer, Communicator& world) {
    ReducedOptions options;
    options.sum = true;
    options.weight = world.rank();
    writer.addReduced("loss", 10, 1, options);
    writer.reduce(1);
  });
  EXPECT_THAT(pointsOf(),
              ElementsAre(Pair("loss", Points{{1, 10.0F}}), Pair("loss/sum", Points{{1, 30.0F}})));
}

TEST_F(ReducedStatistics, HavePercentilesUnderTheirNumbers) {
  onRanks(7, [](DistributedWriter& writer, Communicator& world) {
    ReducedOptions options;
    options.percentiles = {50, 99.9};
    writer.addReduced("time", world.rank() * world.rank(), 4, options);
    writer.reduce(4);
  });
  // 0 1 4 9 16 25 36
  EXPECT_THAT(pointsOf(),
              ElementsAre(Pair("time", Points{{4, 13.0F}}), Pair("time/p50", Points{{4, 9.0F}}),
                          Pair("time/p99.9", Points{{4, 36.0F}})));
}

TEST_F(ReducedStatistics, HaveAHistogramOfTheRanks) {
  onRanks(7, [](DistributedWriter& writer, Communicator& world) {
    ReducedOptions options;
    options.perRankHistogram = true;
    writer.addReduced("time", world.rank() == 3 ? 2.5 : 1, 4, options);
    writer.reduce(4);
  });
  HistogramValue histogram;
  decodeHistogram(values().at("time/ranks").at(0), &histogram).throwIfError();
  ASSERT_THAT(histogram.buckets, SizeIs(30));
  EXPECT_EQ(histogram.buckets.front().left, 1);
  EXPECT_EQ(histogram.buckets.front().count, 6);
  EXPECT_EQ(histogram.buckets.back().right, 2.5);
  EXPECT_EQ(histogram.buckets.back().count, 1);
}

TEST_F(ReducedStatistics, AreAllThereAtOnce) {
  onRanks(2, [](DistributedWriter& writer, Communicator& world) {
    writer.addReduced("a/b", world.rank(), 0, ReducedOptions::all());
    writer.addReduced("plain", 1, 0);
    writer.reduce(0);
  });
  std::vector<std::string> tags;
  for (const auto& [tag, points] : pointsOf()) {
    tags.push_back(tag);
  }
  EXPECT_THAT(tags, ElementsAre("a/b", "a/b/argmax_rank", "a/b/max", "a/b/min", "a/b/p50",
                                "a/b/p90", "a/b/p99", "a/b/std", "a/b/sum", "plain"));
  EXPECT_EQ(values().count("a/b/ranks"), 1U);
  EXPECT_THAT(outline(layout()), ElementsAre("a: a/b"));
}

TEST_F(ReducedStatistics, AreMissingIfNoRankHadAValue) {
  onRanks(2, [](DistributedWriter& writer, Communicator&) {
    ReducedOptions options = ReducedOptions::all();
    options.weight = 0;
    writer.addReduced("a", 1, 0, options);
    ReducedOptions median;
    median.percentiles = {50};
    writer.addReduced("b", 2, 0, median);
    writer.reduce(0);
  });
  EXPECT_THAT(pointsOf(),
              ElementsAre(Pair("b", Points{{0, 2.0F}}), Pair("b/p50", Points{{0, 2.0F}})));
  EXPECT_EQ(values().count("a/ranks"), 0U);
}

TEST_F(ReducedStatistics, ShowABandAroundTheMean) {
  onRanks(2, [](DistributedWriter& writer, Communicator& world) {
    writer.addReduced("loss/train", world.rank(), 0, band());
    writer.reduce(0);
  });
  EXPECT_THAT(pointsOf(), ElementsAre(Pair("loss/train", Points{{0, 0.5F}}),
                                      Pair("loss/train/max", Points{{0, 1.0F}}),
                                      Pair("loss/train/min", Points{{0, 0.0F}})));
  const CustomScalarsLayout found = layout();
  EXPECT_THAT(outline(found), ElementsAre("loss: loss/train"));
  EXPECT_THAT(
      found.categories[0].charts[0].margins,
      ElementsAre(std::array<std::string, 3>{"loss/train", "loss/train/min", "loss/train/max"}));
}

TEST_F(ReducedStatistics, WriteTheLayoutOnceForAllNewBandsOfAStepAndNotAgain) {
  onRanks(2, [](DistributedWriter& writer, Communicator&) {
    for (int step = 0; step < 3; ++step) {
      writer.addReduced("loss/train", 1, step, band());
      writer.addReduced("loss/test", 1, step, band());
      writer.addReduced("lr", 1, step, band());
      writer.reduce(step);
    }
  });
  EXPECT_EQ(layoutsWritten(), 1U);
  EXPECT_THAT(outline(layout()), ElementsAre("loss: loss/train loss/test", "lr: lr"));
}

TEST_F(ReducedStatistics, LetTheLayoutGrowWithTheUsersCharts) {
  onRanks(2, [](DistributedWriter& writer, Communicator&) {
    writer.addCustomScalarsMultilineChart({"loss"}, "loss", "both");
    writer.addReduced("loss/train", 1, 0, band());
    writer.reduce(0);
    writer.addReduced("loss/test", 1, 1, band());
    writer.reduce(1);
    writer.addCustomScalarsMultilineChart({"lr"}, "mine", "rate");
  });
  EXPECT_EQ(layoutsWritten(), 4U);
  EXPECT_THAT(outline(layout()), ElementsAre("loss: both loss/train loss/test", "mine: rate"));
}

TEST_F(ReducedStatistics, PutTheBandsOfRanksWithOwnRunsIntoTheJobsRun) {
  policy_ = RankPolicy::kPerRank;
  onRanks(2, [](DistributedWriter& writer, Communicator& world) {
    writer.addReduced("loss", world.rank(), 0, ReducedOptions::all());
    writer.reduce(0);
  });
  EXPECT_THAT(outline(layout()), ElementsAre("loss: loss"));
  EXPECT_THAT(pointsOf("rank_00001"), ElementsAre(Pair("loss", Points{{0, 1.0F}})));
}

TEST_F(ReducedStatistics, DoNotAskForAValidTagToDrawABand) {
  onRanks(2, [](DistributedWriter& writer, Communicator&) {
    writer.addReduced("loss\xff", 1, 0, band());
    writer.reduce(0);
  });
  EXPECT_THAT(outline(layout()), ElementsAre("loss\xef\xbf\xbd: loss\xef\xbf\xbd"));
}

TEST_F(ReducedStatistics, KeepAnExplicitWallTime) {
  onRanks(2, [](DistributedWriter& writer, Communicator& world) {
    ReducedOptions options = ReducedOptions::all();
    options.wallTime = 1700000000.25;
    writer.addReduced("loss", world.rank(), 0, options);
    writer.reduce(0);
  });
  for (const auto& [tag, series] : readScalars(logDir())) {
    EXPECT_EQ(series.at(0).wallTime, 1700000000.25) << tag;
  }
  EXPECT_THAT(reports_, IsEmpty());
}

}  // namespace
}  // namespace steptape
