// SPDX-License-Identifier: Apache-2.0
// DistributedWriter::addImageFromRanks() and addTextFromRanks().

#include <cstdint>
#include <string>
#include <vector>

#include "steptape/log/values.h"

#include "metrics/writer_on_ranks.h"
#include "support/expect_error.h"
#include "values/kinds/image/image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using test::expectError;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

class AddFromRanks : public test::WriterOnRanks {
 protected:
  std::map<std::string, std::string> texts() const {
    std::map<std::string, std::string> found;
    for (const auto& [tag, series] : values()) {
      TextValue text;
      decodeText(series.at(0), &text).throwIfError();
      found[tag] = text.strings.at(0);
    }
    return found;
  }

  std::map<std::string, ImageValue> images() const {
    std::map<std::string, ImageValue> found;
    for (const auto& [tag, series] : values()) {
      decodeImages(series.at(0), &found[tag]).throwIfError();
    }
    return found;
  }
};

/// A gray image of `width` pixels of one row, all of value `gray`.
struct GrayRow {
  GrayRow(int width, int gray)
      : pixels(static_cast<std::size_t>(width), static_cast<std::uint8_t>(gray)) {}
  TensorView view() const {
    return {pixels.data(), {1, 1, static_cast<std::int64_t>(pixels.size())}};
  }
  std::string png() const {
    return detail::values::encodePng(detail::values::imagePixels(view(), "CHW"));
  }

  std::vector<std::uint8_t> pixels;
};

class AddFromRanksOnRanks : public AddFromRanks, public ::testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, AddFromRanksOnRanks, ::testing::Values(1, 2, 3, 7));

TEST_P(AddFromRanksOnRanks, WritesTheTextsOfAllRanksOnTheRoot) {
  onRanks(GetParam(), [](DistributedWriter& writer, Communicator& world) {
    writer.addTextFromRanks("note", "from " + std::to_string(world.rank()), 3);
  });
  std::map<std::string, std::string> wanted;
  for (int rank = 0; rank < GetParam(); ++rank) {
    wanted["note/" + rankRunName(rank)] = "from " + std::to_string(rank);
  }
  EXPECT_EQ(texts(), wanted);
  EXPECT_THAT(runs(), ElementsAre("."));
}

TEST_P(AddFromRanksOnRanks, WritesImagesThatDifferInSize) {
  onRanks(GetParam(), [](DistributedWriter& writer, Communicator& world) {
    const GrayRow row(world.rank() + 1, 10 * world.rank());
    writer.addImageFromRanks("sample", row.view(), 3);
  });
  const std::map<std::string, ImageValue> found = images();
  ASSERT_EQ(found.size(), static_cast<std::size_t>(GetParam()));
  for (int rank = 0; rank < GetParam(); ++rank) {
    const ImageValue& image = found.at("sample/" + rankRunName(rank));
    EXPECT_EQ(image.width, rank + 1);
    EXPECT_EQ(image.height, 1);
    EXPECT_THAT(image.encoded, ElementsAre(GrayRow(rank + 1, 10 * rank).png()));
  }
}

TEST_F(AddFromRanks, WritesThoseOfTheChosenRanksOnly) {
  onRanks(3, [](DistributedWriter& writer, Communicator& world) {
    TextFromRanksOptions options;
    options.ranks = {2, 0, 2};
    writer.addTextFromRanks("note", world.rank() == 2 ? "" : "root", 3, options);
  });
  EXPECT_THAT(texts(), ElementsAre(Pair("note/rank_00000", "root"), Pair("note/rank_00002", "")));
}

TEST_F(AddFromRanks, IgnoresTheImagesOfOtherRanks) {
  onRanks(2, [](DistributedWriter& writer, Communicator& world) {
    ImageFromRanksOptions options;
    options.ranks = {1};
    const std::vector<float> noImage{1, 2, 3};
    const GrayRow row(4, 100);
    writer.addImageFromRanks("sample", world.isRoot() ? TensorView(noImage) : row.view(), 3,
                             options);
  });
  EXPECT_EQ(images().size(), 1U);
  EXPECT_EQ(images().count("sample/rank_00001"), 1U);
}

TEST_F(AddFromRanks, KeepsStepTimeAndDescription) {
  onRanks(2, [](DistributedWriter& writer, Communicator&) {
    TextFromRanksOptions options;
    options.wallTime = 1700000000.25;
    options.description = "what it is";
    writer.addTextFromRanks("note", "text", 42, options);
  });
  RunReader reader(listRuns(logDir()).front());
  reader.update();
  const TagSeries& series = reader.tags().at("note/rank_00001");
  EXPECT_EQ(series.values.at(0).step, 42);
  EXPECT_EQ(series.values.at(0).wallTime, 1700000000.25);
  EXPECT_EQ(series.metadata.description, "what it is");
}

TEST_F(AddFromRanks, WritesIntoTheJobsRunNextToTheRanksRuns) {
  policy_ = RankPolicy::kPerRank;
  onRanks(2, [](DistributedWriter& writer, Communicator&) {
    writer.addTextFromRanks("note", "text", 0);
  });
  EXPECT_THAT(texts(),
              ElementsAre(Pair("note/rank_00000", "text"), Pair("note/rank_00001", "text")));
}

TEST_F(AddFromRanks, ThrowsOnEveryRankForOneInvalidImageAndStaysUsable) {
  onRanks(3, [](DistributedWriter& writer, Communicator& world) {
    const std::vector<float> noImage{1, 2, 3};
    const GrayRow row(4, 100);
    expectError(ErrorCode::kInvalidArgument, "rank 1 (" + world.nodeName() + "): ", [&] {
      writer.addImageFromRanks("sample", world.rank() == 1 ? TensorView(noImage) : row.view(), 3);
    });
    writer.addTextFromRanks("note", "text", 3);
  });
  EXPECT_EQ(texts().size(), 3U);
}

TEST_F(AddFromRanks, RefusesARankThatDoesNotExist) {
  onRanks(2, [](DistributedWriter& writer, Communicator&) {
    TextFromRanksOptions options;
    options.ranks = {0, 2};
    expectError(ErrorCode::kInvalidArgument, "addTextFromRanks: got rank 2; expected 0 to 1",
                [&] { writer.addTextFromRanks("note", "text", 3, options); });
  });
}

TEST_F(AddFromRanks, RefusesAnEmptyTag) {
  onRanks(2, [](DistributedWriter& writer, Communicator&) {
    expectError(ErrorCode::kInvalidArgument, "addTextFromRanks: got an empty tag",
                [&] { writer.addTextFromRanks("", "text", 3); });
  });
  EXPECT_THAT(texts(), IsEmpty());
}

TEST_F(AddFromRanks, ReportsRanksThatDifferInTagOrStep) {
  onRanks(2, [](DistributedWriter& writer, Communicator& world) {
    expectError(ErrorCode::kRankMismatch, "addTextFromRanks 'note' at step 4",
                [&] { writer.addTextFromRanks("note", "text", 3 + world.rank()); });
  });
}

}  // namespace
}  // namespace steptape
