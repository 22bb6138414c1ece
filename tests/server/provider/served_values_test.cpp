// SPDX-License-Identifier: Apache-2.0
//
// Tensors and blobs, which are read from the files when a page asks for them.
#include <cstring>
#include <filesystem>
#include <limits>
#include <string>

#include "server/provider/blob_key.h"
#include "server/provider/provider_fixture.h"

namespace steptape::detail::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ServedValuesTest : public ProviderFixture {
 protected:
  static std::vector<double> doublesOf(const event::Tensor& tensor) {
    std::vector<double> numbers(tensor.content.size() / sizeof(double));
    std::memcpy(numbers.data(), tensor.content.data(), numbers.size() * sizeof(double));
    return numbers;
  }
  static event::Event strings(std::int64_t step, const std::string& tag, const std::string& plugin,
                              const Names& strings, std::vector<std::int64_t> shape) {
    event::Tensor tensor;
    tensor.type = event::TensorType::kString;
    tensor.shape = std::move(shape);
    tensor.strings = strings;
    return eventWith(step, withPlugin({tag, tensor, std::nullopt}, plugin));
  }
  static event::Event oldImage(std::int64_t step, const std::string& bytes) {
    return eventWith(step, {"image", event::SummaryImage{3, 4, 3, bytes}, std::nullopt});
  }
  /// Returns the first key of the only tag.
  std::string firstKey(const std::string& plugin) const {
    const auto response = get<pb::ReadBlobSequencesResponse>("ReadBlobSequences", readOf(plugin));
    const auto entry = onlyEntry(response);
    if (entry.data().values_size() == 0 || entry.data().values(0).blob_refs_size() == 0) {
      ADD_FAILURE() << "no blobs";
      return "";
    }
    return entry.data().values(0).blob_refs(0).blob_key();
  }
  std::int64_t longest(const std::string& plugin) const {
    const auto response = get<pb::ListBlobSequencesResponse>("ListBlobSequences", listOf(plugin));
    return onlyEntry(response).metadata().max_length();
  }
};

TEST_F(ServedValuesTest, AreTextsAsTheyWereWritten) {
  writeEvents(kFirst, {version(), textAt(1, "note", "a"), textAt(2, "note", "b", false)});
  serve();
  const std::vector<event::Tensor> tensors = readTensors(readOf("text"));
  ASSERT_THAT(tensors, SizeIs(2));
  EXPECT_THAT(tensors[0].strings, ElementsAre("a"));
  EXPECT_THAT(tensors[1].strings, ElementsAre("b"));
  EXPECT_EQ(tensors[1].type, event::TensorType::kString);
}

TEST_F(ServedValuesTest, AreEvenlySpacedTensors) {
  std::vector<event::Event> events{version()};
  for (std::int64_t step = 0; step <= 1000; ++step) {
    events.push_back(textAt(step, "note", std::to_string(step)));
  }
  writeEvents(kFirst, events);
  serve();
  const std::vector<event::Tensor> five = readTensors(readOf("text", 5));
  ASSERT_THAT(five, SizeIs(5));
  EXPECT_THAT(five[1].strings, ElementsAre("250"));
  EXPECT_THAT(five[4].strings, ElementsAre("1000"));
  EXPECT_THAT(readTensors(readOf("text", 5000)), SizeIs(100)) << "the default limit";
  EXPECT_THAT(readTensors(readOf("text", 0)), IsEmpty());
}

TEST_F(ServedValuesTest, AreBucketsOfAHistogramOfTheOldForm) {
  event::SummaryHistogram histogram;
  histogram.min = -1;
  histogram.max = 5;
  histogram.bucketLimits = {0, 2, std::numeric_limits<double>::max()};
  histogram.bucketCounts = {3, 4, 1};
  writeEvents(kFirst, {version(), eventWith(1, {"weights", histogram, std::nullopt})});
  serve();
  const std::vector<event::Tensor> tensors = readTensors(readOf("histograms"));
  ASSERT_THAT(tensors, SizeIs(1));
  EXPECT_EQ(tensors[0].type, event::TensorType::kDouble);
  EXPECT_THAT(tensors[0].shape, ElementsAre(3, 3));
  EXPECT_THAT(doublesOf(tensors[0]), ElementsAre(-1, 0, 3, 0, 2, 4, 2, 5, 1));
}

TEST_F(ServedValuesTest, AreAnEmptyTensorWithoutData) {
  writeEvents(kFirst,
              {version(), eventWith(0, withPlugin({"_hparams_", {}, std::nullopt}, "hparams"))});
  serve();
  const std::vector<event::Tensor> tensors = readTensors(readOf("hparams"));
  ASSERT_THAT(tensors, SizeIs(1));
  EXPECT_EQ(tensors[0].type, event::TensorType::kFloat);
  EXPECT_THAT(tensors[0].shape, ElementsAre(0));
}

TEST_F(ServedValuesTest, AreWidthHeightAndImageOfTheOldForm) {
  writeEvents(kFirst, {version(), oldImage(1, "PNG 1"), oldImage(2, "PNG 2")});
  serve();
  EXPECT_THAT(readBlobs(readOf("images")),
              ElementsAre(ElementsAre("4", "3", "PNG 1"), ElementsAre("4", "3", "PNG 2")));
  EXPECT_EQ(longest("images"), 3);
}

TEST_F(ServedValuesTest, AreTheImagesOfATensor) {
  writeEvents(kFirst, {version(), strings(1, "image", "images", {"4", "3", "a"}, {3}),
                       strings(2, "image", "images", {"4", "3", "b", "c"}, {4})});
  serve();
  EXPECT_THAT(readBlobs(readOf("images")),
              ElementsAre(ElementsAre("4", "3", "a"), ElementsAre("4", "3", "b", "c")));
  EXPECT_EQ(longest("images"), 4);
}

TEST_F(ServedValuesTest, AreClipsWithoutTheirLabels) {
  writeEvents(kFirst,
              {version(), strings(1, "sound", "audio", {"a", "label a", "b", "label b"}, {2, 2})});
  serve();
  EXPECT_THAT(readBlobs(readOf("audio")), ElementsAre(ElementsAre("a", "b")));
}

TEST_F(ServedValuesTest, AreClipsOfTheOldForm) {
  event::SummaryAudio audio;
  audio.encoded = "WAV";
  writeEvents(kFirst, {version(), eventWith(1, {"sound", audio, std::nullopt})});
  serve();
  EXPECT_THAT(readBlobs(readOf("audio")), ElementsAre(ElementsAre("WAV")));
}

TEST_F(ServedValuesTest, AreGraphs) {
  writeEvents(kFirst, {version(), eventAt(0, event::GraphDef{"graph"}),
                       eventAt(3, event::TaggedRunMetadata{"step 3", "metadata"}),
                       strings(0, "keras", "graph_keras_model", {"{}"}, {})});
  serve();
  EXPECT_THAT(readBlobs(readOf("graphs")), ElementsAre(ElementsAre("graph")));
  EXPECT_THAT(readBlobs(readOf("graph_tagged_run_metadata")), ElementsAre(ElementsAre("metadata")));
  EXPECT_THAT(readBlobs(readOf("graph_keras_model")), ElementsAre(ElementsAre("{}")));
}

TEST_F(ServedValuesTest, AreLeftOutIfTheyAreNoBlobs) {
  const event::Event numbers = eventWith(
      1, withPlugin(tensorValue<float>("image", event::TensorType::kFloat, {1, 2}), "images"));
  const event::Event square = strings(2, "image", "images", {"a", "b", "c", "d"}, {2, 2});
  writeEvents(kFirst, {version(), numbers, square});
  serve();
  EXPECT_THAT(entriesOf(get<pb::ListBlobSequencesResponse>("ListBlobSequences", listOf("images"))),
              IsEmpty());
  EXPECT_THAT(readBlobs(readOf("images")), IsEmpty());
  writeEvents(kFirst,
              {version(), numbers, square, strings(3, "image", "images", {"4", "3", "a"}, {3})});
  serve();
  EXPECT_THAT(readBlobs(readOf("images")), ElementsAre(ElementsAre("4", "3", "a")));
  EXPECT_EQ(longest("images"), 3);
}

TEST_F(ServedValuesTest, KeepTheLastOfTenImages) {
  std::vector<event::Event> events{version()};
  for (std::int64_t step = 0; step < 50; ++step) {
    events.push_back(oldImage(step, std::to_string(step)));
  }
  writeEvents(kFirst, events);
  serve();
  const std::vector<Names> images = readBlobs(readOf("images"));
  ASSERT_THAT(images, SizeIs(10));
  EXPECT_EQ(images.front().back(), "0");
  EXPECT_EQ(images.back().back(), "49");
  EXPECT_THAT(readBlobs(readOf("images", 0)), IsEmpty());
}

TEST_F(ServedValuesTest, ComeInPartsOfEightMebibytes) {
  constexpr std::size_t kMebibyte = std::size_t{1} << 20;
  std::string blob(20 * kMebibyte, 'x');
  blob.front() = 'a';
  blob[8 * kMebibyte] = 'b';
  blob.back() = 'c';
  writeEvents(kFirst, {version(), eventAt(0, event::GraphDef{blob})});
  serve();
  const std::string key = firstKey("graphs");
  std::vector<std::size_t> sizes;
  for (const std::string& part : readParts(key)) {
    sizes.push_back(part.size());
  }
  EXPECT_THAT(sizes, ElementsAre(8 * kMebibyte, 8 * kMebibyte, 4 * kMebibyte));
  EXPECT_TRUE(readBlob(key) == blob);
}

TEST_F(ServedValuesTest, AreRefusedForAnUnknownKey) {
  writeEvents(kFirst, {version(), eventAt(0, event::GraphDef{"graph"}), textAt(1, "note", "words"),
                       simpleScalar("x", 1, 1)});
  serve();
  std::vector<std::string> messages;
  EXPECT_THAT(askBlob("", &messages), IsStatus(StatusCode::kInvalidArgument, "got the key"));
  EXPECT_THAT(askBlob("no key", &messages), IsStatus(StatusCode::kInvalidArgument, "\"no key\""));
  for (const BlobPlace& place :
       {BlobPlace{"missing", "__run_graph__", 0, 0}, BlobPlace{".", "missing", 0, 0},
        BlobPlace{".", "__run_graph__", 1, 0}, BlobPlace{".", "__run_graph__", 0, 1},
        BlobPlace{".", "__run_graph__", 0, ~std::size_t{0}}, BlobPlace{".", "x", 1, 0}}) {
    EXPECT_THAT(askBlob(blobKeyOf(place), &messages), IsStatus(StatusCode::kNotFound, "no blob"));
  }
  EXPECT_TRUE(askBlob(blobKeyOf({".", "__run_graph__", 0, 0}), &messages).ok());
}

TEST_F(ServedValuesTest, AnswerAHugeKeyWithAShortText) {
  serve();
  std::vector<std::string> messages;
  EXPECT_LT(askBlob(std::string(1 << 20, '!'), &messages).message.size(), 500U);
}

TEST_F(ServedValuesTest, AreLeftOutOnceTheirFileIsGone) {
  writeEvents(kFirst, {version(), textAt(1, "note", "a"), oldImage(1, "PNG")});
  serve();
  const std::string key = firstKey("images");
  const int images =
      onlyEntry(get<pb::ReadBlobSequencesResponse>("ReadBlobSequences", readOf("images")))
          .data()
          .values_size();
  EXPECT_EQ(images, 1);
  // The run is known until the store has seen what happened, and gone afterwards.
  std::filesystem::rename(path(kFirst), path("elsewhere"));
  const auto response = get<pb::ReadTensorsResponse>("ReadTensors", readOf("text"));
  for (const auto& run : response.runs()) {
    EXPECT_EQ(run.tags(0).data().value_size(), 0);
    EXPECT_EQ(run.tags(0).data().step_size(), 0);
  }
  std::vector<std::string> messages;
  EXPECT_THAT(askBlob(key, &messages), IsStatus(StatusCode::kNotFound, "no blob"));
}

TEST_F(ServedValuesTest, HaveTheLengthsOfAFileThatIsReplaced) {
  writeEvents("a/events.out.tfevents.1",
              {version(), strings(1, "image", "images", {"4", "3", "a"}, {3})});
  serve();
  EXPECT_EQ(longest("images"), 3);
  writeEvents("new", {version(), strings(1, "image", "images", {"4", "3", "a", "b"}, {4})});
  std::filesystem::rename(path("new"), path("a/events.out.tfevents.1"));
  const std::string fourth = blobKeyOf({"a", "image", 1, 3});
  std::vector<std::string> messages;
  expectSoon("the new file", [&] { return askBlob(fourth, &messages).ok(); });
  EXPECT_EQ(longest("images"), 4);
  EXPECT_THAT(readBlobs(readOf("images")), ElementsAre(ElementsAre("4", "3", "a", "b")));
}

TEST_F(ServedValuesTest, HaveTheLengthsAfterARestart) {
  writeEvents("a/events.out.tfevents.1",
              {version(), strings(1, "image", "images", {"4", "3", "a"}, {3})});
  serve();
  EXPECT_EQ(longest("images"), 3);
  append("a/events.out.tfevents.1",
         framed({strings(1, "image", "images", {"4", "3", "a", "b"}, {4})}));
  const std::string fourth = blobKeyOf({"a", "image", 1, 3});
  std::vector<std::string> messages;
  expectSoon("the new image", [&] { return askBlob(fourth, &messages).ok(); });
  EXPECT_EQ(longest("images"), 4);
}

TEST_F(ServedValuesTest, AreThoseOfATail) {
  writeEvents("a/events.out.tfevents.1", {version(), textAt(1, "note", "a")});
  serve();
  const auto runs = store_->runs();
  // The provider reads what a run has, whoever has set its tail.
  const_cast<ServedRun&>(*runs->at("a")).setTail(tailOf({textAt(2, "note", "b")}));
  const std::vector<event::Tensor> tensors = readTensors(readOf("text"));
  ASSERT_THAT(tensors, SizeIs(2));
  EXPECT_THAT(tensors[1].strings, ElementsAre("b"));
}

}  // namespace
}  // namespace steptape::detail::server
