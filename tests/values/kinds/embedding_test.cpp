// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/embedding/embedding.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "support/expect_error.h"
#include "values/kinds/embedding/embedding_config.h"
#include "values/kinds/embedding/embedding_text_format.h"
#include "values/kinds/embedding/embedding_tsv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using test::expectInvalidArgument;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Le;
using ::testing::SizeIs;

const std::vector<float> kSix = {0, 1, 2, 3, 4, 5};
const TensorView kThreePoints(kSix.data(), {3, 2});

TEST(CheckEmbedding, AcceptsAMatrixAlone) {
  EXPECT_NO_THROW(detail::values::checkEmbedding(kThreePoints, {}));
}

TEST(CheckEmbedding, RejectsAnotherRankAndAnEmptyMatrix) {
  expectInvalidArgument(
      [] { detail::values::checkEmbedding(kSix, {}); },
      "got a matrix of shape (6); expected (points, dimensions), neither of them 0");
  expectInvalidArgument(
      [] {
        detail::values::checkEmbedding(TensorView(kSix.data(), {0, 4}), {});
      },
      "got a matrix of shape (0, 4); expected (points, dimensions), neither of them 0");
}

TEST(CheckEmbedding, RejectsAnotherNumberOfLabels) {
  EmbeddingOptions options;
  options.metadata = {{"a"}, {"b"}};
  expectInvalidArgument([&] { detail::values::checkEmbedding(kThreePoints, options); },
                        "got 2 rows of metadata; expected 3, one per row of the matrix");
}

TEST(CheckEmbedding, RejectsRaggedLabels) {
  EmbeddingOptions options;
  options.metadata = {{"a", "1"}, {"b"}, {"c", "3"}};
  options.metadataHeader = {"name", "class"};
  expectInvalidArgument([&] { detail::values::checkEmbedding(kThreePoints, options); },
                        "got 1 cells in row 1 of metadata; expected 2 as in row 0");
  options.metadata = {{}, {}, {}};
  expectInvalidArgument([&] { detail::values::checkEmbedding(kThreePoints, options); },
                        "got no cells in row 0 of metadata; expected at least one");
}

TEST(CheckEmbedding, RequiresATitlePerColumn) {
  EmbeddingOptions options;
  options.metadata = {{"a", "1"}, {"b", "2"}, {"c", "3"}};
  expectInvalidArgument([&] { detail::values::checkEmbedding(kThreePoints, options); },
                        "got 0 titles in metadataHeader; expected 2, one per column of metadata");
  options.metadataHeader = {"name", "name"};
  expectInvalidArgument([&] { detail::values::checkEmbedding(kThreePoints, options); },
                        "got the title \"name\" twice in metadataHeader; expected distinct titles, "
                        "by which the projector finds columns");
  options.metadataHeader = {"name", " "};
  expectInvalidArgument(
      [&] { detail::values::checkEmbedding(kThreePoints, options); },
      "got a blank title in metadataHeader; expected titles that the projector can list");
  options.metadataHeader = {"name", "class"};
  EXPECT_NO_THROW(detail::values::checkEmbedding(kThreePoints, options));
}

TEST(CheckEmbedding, RejectsTitlesWithoutMetadata) {
  EmbeddingOptions options;
  options.metadataHeader = {"name"};
  expectInvalidArgument(
      [&] { detail::values::checkEmbedding(kThreePoints, options); },
      "got 1 titles in metadataHeader and no metadata; expected a row of metadata per point");
}

TEST(CheckEmbedding, RejectsAnotherNumberOfImages) {
  EmbeddingOptions options;
  options.labelImages = TensorView(kSix.data(), {6, 1, 1, 1});
  expectInvalidArgument([&] { detail::values::checkEmbedding(kThreePoints, options); },
                        "got 6 images in labelImages; expected 3, one per row of the matrix");
}

TEST(CheckEmbedding, RejectsImagesOfUnknownScaleAndShape) {
  const std::vector<std::int32_t> integers(3);
  EmbeddingOptions options;
  options.labelImages = TensorView(integers.data(), {3, 1, 1, 1});
  expectInvalidArgument([&] { detail::values::checkEmbedding(kThreePoints, options); },
                        "got labelImages of element type int32; expected uint8 (0 to 255), a "
                        "floating-point type (0 to 1) or bool");
  options.labelImages = TensorView(kSix.data(), {3, 2, 1, 1});
  expectInvalidArgument([&] { detail::values::checkEmbedding(kThreePoints, options); },
                        "got labelImages of shape (3, 2, 1, 1) with 2 channels; expected (N, C, H, "
                        "W) with 1, 3 or 4 channels");
  options.labelImages = TensorView(kSix.data(), {3, 1, 2});
  expectInvalidArgument(
      [&] { detail::values::checkEmbedding(kThreePoints, options); },
      "got labelImages of shape (3, 1, 2); expected (N, C, H, W), none of them 0");
}

TEST(CheckEmbedding, RejectsMoreImagesThanTheProjectorCanLoad) {
  // Only the shape is checked.
  const std::uint8_t pixel = 0;
  const TensorView images(&pixel, {66'000, 1, 32, 16}, {0, 0, 0, 0});
  const float element = 0;
  EmbeddingOptions options;
  options.labelImages = images;
  expectInvalidArgument(
      [&] {
        detail::values::checkEmbedding(TensorView(&element, {66'000, 1}, {0, 0}), options);
      },
      "got labelImages of shape (66000, 1, 32, 16), 257 squares of 32 pixels to a side; expected "
      "at most the 8192 pixels that the projector loads; give fewer or smaller images");
}

TEST(CheckEmbedding, RejectsATagThatNoDirectoryCanHave) {
  expectInvalidArgument([] { detail::values::checkEmbeddingTag(std::string(100, '/'), 0); },
                        "got a tag that makes a directory name of 300 bytes; expected at most 255");
  EXPECT_THROW(detail::values::checkEmbeddingTag("", 0), Error);
  EXPECT_NO_THROW(detail::values::checkEmbeddingTag("last/layer", 7));
}

// The layout of tensorboardX 2.6.5's make_sprite().
TEST(SpritePixels, LieRowByRowOnASquare) {
  const std::vector<std::uint8_t> images = {11, 12, 13, 14, 21, 22, 23, 24, 31, 32, 33, 34};
  const detail::values::Pixels sprite =
      detail::values::spritePixels(TensorView(images.data(), {3, 1, 2, 2}));
  EXPECT_EQ(sprite.width, 4);
  EXPECT_EQ(sprite.height, 4);
  EXPECT_EQ(sprite.channels, 1);
  EXPECT_THAT(sprite.data, ElementsAre(11, 12, 21, 22, 13, 14, 23, 24, 31, 32, 0, 0, 33, 34, 0, 0));
}

TEST(SpritePixels, StaySquareIfTheLastRowsAreEmpty) {
  const std::vector<std::uint8_t> images(5, 9);
  const detail::values::Pixels sprite =
      detail::values::spritePixels(TensorView(images.data(), {5, 1, 1, 1}));
  EXPECT_THAT(sprite.data, ElementsAre(9, 9, 9, 9, 9, 0, 0, 0, 0));
}

TEST(SpritePixels, CenterImagesThatAreNotSquare) {
  const std::vector<std::uint8_t> images = {1, 2, 3};
  EXPECT_THAT(detail::values::spritePixels(TensorView(images.data(), {1, 1, 1, 3})).data,
              ElementsAre(0, 0, 0, 1, 2, 3, 0, 0, 0));
  EXPECT_THAT(detail::values::spritePixels(TensorView(images.data(), {1, 1, 3, 1})).data,
              ElementsAre(0, 1, 0, 0, 2, 0, 0, 3, 0));
}

TEST(SpritePixels, ConvertFloatsAndInterleaveChannels) {
  const std::vector<float> image = {0.0F, 0.5F, 1.0F};
  const detail::values::Pixels sprite =
      detail::values::spritePixels(TensorView(image.data(), {1, 3, 1, 1}));
  EXPECT_EQ(sprite.channels, 3);
  EXPECT_THAT(sprite.data, ElementsAre(0, 127, 255));
}

TEST(SpritePixels, FollowStrides) {
  // (H, W, N) in memory, two images of 1 x 2.
  const std::vector<std::uint8_t> images = {1, 10, 2, 20};
  const detail::values::Pixels sprite =
      detail::values::spritePixels(TensorView(images.data(), {2, 1, 1, 2}, {1, 0, 0, 2}));
  EXPECT_THAT(sprite.data, ElementsAre(1, 2, 10, 20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
}

/// Returns the whole text, and the sizes of its pieces.
template <typename Text>
std::string whole(Text text, std::size_t bytes, std::vector<std::size_t>* pieces = nullptr) {
  std::string all;
  bool isMore = true;
  while (isMore) {
    std::string piece;
    isMore = text.next(bytes, &piece);
    if (pieces != nullptr) {
      pieces->push_back(piece.size());
    }
    all += piece;
  }
  return all;
}

std::string tsv(const TensorView& matrix) {
  return whole(detail::values::MatrixTsv(matrix), 1000);
}

TEST(MatrixTsv, HasALinePerRow) {
  EXPECT_EQ(tsv(kThreePoints), "0\t1\n2\t3\n4\t5\n");
  EXPECT_EQ(tsv(TensorView(kSix.data(), {2, 3}, {1, 2})), "0\t2\t4\n1\t3\t5\n");
}

TEST(MatrixTsv, HasTheFewestDigitsThatGiveTheNumberBack) {
  const std::vector<float> floats = {0.1F, 16777216.0F, 1e-38F, -0.333333343F};
  EXPECT_EQ(tsv(TensorView(floats.data(), {1, 4})), "0.1\t16777216\t1e-38\t-0.33333334\n");
  const std::vector<double> doubles = {0.1, 1.0 / 3};
  EXPECT_EQ(tsv(TensorView(doubles.data(), {1, 2})), "0.1\t0.3333333333333333\n");
}

TEST(MatrixTsv, HasEveryElementType) {
  const std::uint64_t large = ~std::uint64_t{0};
  EXPECT_EQ(tsv(TensorView(&large, {1, 1})), "18446744073709551615\n");
  const std::int64_t low = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(tsv(TensorView(&low, {1, 1})), "-9223372036854775808\n");
  const std::int8_t small = -7;
  EXPECT_EQ(tsv(TensorView(&small, {1, 1})), "-7\n");
  const bool truth[] = {true, false};
  EXPECT_EQ(tsv(TensorView(truth, {1, 2})), "1\t0\n");
  const std::uint16_t half = 0x3E00;
  EXPECT_EQ(tsv(TensorView(&half, DType::kFloat16, {1, 1}, {})), "1.5\n");
  EXPECT_EQ(tsv(TensorView(&half, DType::kBFloat16, {1, 1}, {})), "0.125\n");
}

TEST(MatrixTsv, WritesNonFiniteNumbersAsPythonReadsThem) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const std::vector<double> values = {-std::nan(""), kInf, -kInf};
  EXPECT_EQ(tsv(TensorView(values.data(), {1, 3})), "nan\tinf\t-inf\n");
}

TEST(MatrixTsv, IsWrittenInPieces) {
  std::vector<std::size_t> pieces;
  EXPECT_EQ(whole(detail::values::MatrixTsv(kThreePoints), 3, &pieces), "0\t1\n2\t3\n4\t5\n");
  EXPECT_THAT(pieces, SizeIs(3));
  EXPECT_THAT(pieces, Each(Le(3U + 32U)));
}

std::string metadata(std::vector<std::string> header, std::vector<std::vector<std::string>> rows) {
  return whole(detail::values::MetadataTsv(std::move(header), std::move(rows)), 8);
}

TEST(MetadataTsv, HasTitlesOfSeveralColumnsOnly) {
  EXPECT_EQ(metadata({"name"}, {{"a"}, {"b"}}), "a\nb\n");
  EXPECT_EQ(metadata({"name", "class"}, {{"a", "1"}, {"b", "2"}}), "name\tclass\na\t1\nb\t2\n");
}

TEST(MetadataTsv, KeepsACellInItsPlace) {
  EXPECT_EQ(metadata({}, {{"a\tb"}, {"c\r\nd"}}), "a b\nc  d\n");
  EXPECT_EQ(metadata({}, {{"a\xFFz"}}), "a\xEF\xBF\xBDz\n");
}

TEST(MetadataTsv, KeepsBlankRowsFromBeingLeftOut) {
  EXPECT_EQ(metadata({}, {{""}, {" "}}), "\u200B\n\u200B \n");
  EXPECT_EQ(metadata({"x", "y"}, {{"", ""}, {"", "1"}}), "x\ty\n\u200B\t\n\t1\n");
}

TEST(EmbeddingDirectory, IsTheStepAndTheEscapedTag) {
  EXPECT_EQ(detail::values::embeddingDirectory("default", 0), "00000/default");
  EXPECT_EQ(detail::values::embeddingDirectory("a/b\\c 50%", 1234567), "1234567/a%2fb%5cc 50%25");
  EXPECT_EQ(detail::values::embeddingDirectory("line\n", -3), "-0003/line%0a");
  EXPECT_EQ(detail::values::embeddingDirectory("..", 1), "00001/%2e%2e");
}

TEST(EmbeddingName, DoesNotEndAsTensorBoardWouldCutIt) {
  EXPECT_EQ(detail::values::embeddingName("emb", 0), "emb:00000");
  EXPECT_EQ(detail::values::embeddingName("emb", 12), "emb:00012");
}

detail::values::EmbeddingEntry entry(const std::string& name) {
  detail::values::EmbeddingEntry entry;
  entry.tensorName = name;
  entry.tensorPath = "d/tensors.tsv";
  return entry;
}

const std::string kEntryA = R"(embeddings {
  tensor_name: "a"
  tensor_path: "d/tensors.tsv"
}
)";

TEST(EmbeddingConfig, NamesTheFilesOfAnEmbedding) {
  detail::values::EmbeddingEntry full = entry("say \"a\\b\"");
  full.metadataPath = "d/metadata.tsv";
  full.spritePath = "d/sprite.png";
  full.spriteCell = 28;
  EXPECT_EQ(detail::values::withEmbedding("", full), R"(embeddings {
  tensor_name: "say \"a\\b\""
  metadata_path: "d/metadata.tsv"
  sprite {
    image_path: "d/sprite.png"
    single_image_dim: 28
    single_image_dim: 28
  }
  tensor_path: "d/tensors.tsv"
}
)");
}

TEST(EmbeddingConfig, KeepsExistingEntries) {
  const std::string before =
      "# made by hand\nmodel_checkpoint_path: \"m.ckpt\"\n"
      "embeddings < tensor_name: 'b' bookmarks_path: \"}\" >";
  EXPECT_EQ(detail::values::withEmbedding(before, entry("a")), before + "\n" + kEntryA);
}

TEST(EmbeddingConfig, ReplacesAnEntryOfTheSameName) {
  const std::string first = "embeddings { tensor_name: \"b\" }\n";
  // As tensorboardX and torch write them, with the octal escapes of Python's text_format.
  const std::string second = "embeddings {\ntensor_name: \"\\141\"\ntensor_path: \"old\"\n}\n";
  EXPECT_EQ(detail::values::withEmbedding(first + second + first, entry("a")),
            first + kEntryA + first);
}

TEST(EmbeddingConfig, LeavesOneEntryOfAName) {
  EXPECT_EQ(detail::values::withEmbedding(kEntryA + kEntryA, entry("a")), kEntryA + "\n");
}

TEST(EmbeddingConfig, KeepsAFileThatItCannotRead) {
  for (const std::string broken : {"embeddings {", "embeddings { tensor_name: \"a }", "}",
                                   "embeddings", "[1]", "a: [1", "a: \"x\ny\""}) {
    EXPECT_EQ(detail::values::withEmbedding(broken, entry("a")), std::nullopt) << broken;
  }
  EXPECT_EQ(detail::values::withEmbedding(std::string("a: 1 \0 b", 8), entry("a")), std::nullopt);
  std::string deep;
  for (int i = 0; i < 100'000; ++i) {
    deep += "a {";
  }
  EXPECT_EQ(detail::values::withEmbedding(deep, entry("a")), std::nullopt);
}

TEST(TextFormat, ReadsStringsListsAndMessages) {
  const auto fields = detail::values::readTextFormat(
      "a: 'x' \"\\\"\\x41\\n\"  # and a comment\n b: [1, {c: 2}]; d <e: -1.5e3>, f: NAME");
  ASSERT_TRUE(fields.has_value());
  ASSERT_THAT(*fields, SizeIs(4));
  EXPECT_EQ((*fields)[0].text, "x\"A\n");
  EXPECT_EQ((*fields)[2].fields.at(0).name, "e");
  EXPECT_EQ((*fields)[3].name, "f");
}

TEST(TextFormat, ReadsItsQuotedTextBack) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) {
    bytes.push_back(static_cast<char>(i));
  }
  const std::string text = "a: " + detail::values::quotedText(bytes + "7");
  const auto fields = detail::values::readTextFormat(text);
  ASSERT_TRUE(fields.has_value());
  EXPECT_EQ(fields->at(0).text, bytes + "7");
}

}  // namespace
}  // namespace steptape
