// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <string>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/ranks/testing.h"
#include "steptape/train/batch_loader.h"

#include "support/content_of.h"
#include "support/expect_error.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

namespace steptape {
namespace {

using test::expectError;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Returns the header of an IDX file of unsigned bytes, with dimensions below 256.
std::string idxHeader(const std::vector<char>& shape, char type = 8) {
  std::string bytes = {0, 0, type, static_cast<char>(shape.size())};
  for (const char size : shape) {
    bytes += std::string{0, 0, 0, size};
  }
  return bytes;
}

std::vector<std::int64_t> shapeOf(const at::Tensor& tensor) {
  return tensor.sizes().vec();
}

class DataFiles : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (dir_.path() / name).string(); }

  std::string write(const std::string& name, const std::string& bytes) {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }

  std::string writeGzip(const std::string& name, const std::string& bytes) {
    gzFile file = gzopen(path(name).c_str(), "wb");
    gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
    gzclose(file);
    return path(name);
  }

  testing::TempDir dir_;
};

TEST_F(DataFiles, ReadIdxInTheShapeItStates) {
  const at::Tensor tensor = loadIdx(write("images", idxHeader({2, 1, 3}) + "abcdef"));
  EXPECT_THAT(shapeOf(tensor), ElementsAre(2, 1, 3));
  EXPECT_EQ(tensor.scalar_type(), at::kByte);
  EXPECT_EQ(tensor[1][0][2].item<int>(), 'f');
}

TEST_F(DataFiles, ReadGzippedIdx) {
  const at::Tensor tensor = loadIdx(writeGzip("labels.gz", idxHeader({3}) + "xyz"));
  EXPECT_EQ(tensor[2].item<int>(), 'z');
}

TEST_F(DataFiles, NameTheMissingFile) {
  expectError(ErrorCode::kIoError, "cannot open " + path("none") + ": No such file or directory",
              [&] { loadIdx(path("none")); });
}

TEST_F(DataFiles, ReportWhereATruncatedFileEnds) {
  const std::string file = write("images", idxHeader({10}) + "abc");
  expectError(ErrorCode::kDataLoss, file + " is truncated: got 11 bytes; expected 18",
              [&] { loadIdx(file); });
}

TEST_F(DataFiles, SayThatAHeaderIsTruncated) {
  const std::string file = write("images", std::string("\0\0", 2));
  expectError(ErrorCode::kDataLoss, file + " is truncated: got 2 bytes; expected 4",
              [&] { loadIdx(file); });
}

TEST_F(DataFiles, SayThatGzippedDataIsTruncated) {
  std::string noise;
  for (int i = 0; i < 200; ++i) {
    noise += static_cast<char>(i * i * 7919 % 251);
  }
  const std::string whole = writeGzip("whole.gz", idxHeader({static_cast<char>(200)}) + noise);
  std::string bytes = test::contentOf(whole);
  const std::string cut = write("cut.gz", bytes.substr(0, bytes.size() / 2));
  expectError(ErrorCode::kDataLoss, cut + " is truncated", [&] { loadIdx(cut); });
}

TEST_F(DataFiles, SayThatGzippedDataIsDamaged) {
  const std::string whole = writeGzip("whole.gz", idxHeader({3}) + "xyz");
  std::string bytes = test::contentOf(whole);
  bytes[bytes.size() - 6] = static_cast<char>(bytes[bytes.size() - 6] ^ 1);  // In the CRC-32.
  const std::string damaged = write("damaged.gz", bytes);
  expectError(ErrorCode::kDataLoss, damaged + " is damaged: ", [&] { loadIdx(damaged); });
}

TEST_F(DataFiles, RejectOtherFormats) {
  const std::string file = write("images", "\x89PNG and more");
  expectError(ErrorCode::kDataLoss, file + " is not an IDX file: got the first bytes 89 50 4e 47",
              [&] { loadIdx(file); });
}

TEST_F(DataFiles, RejectOtherElementsThanBytes) {
  const std::string file = write("images", idxHeader({1}, 0x0d) + "1234");
  expectError(ErrorCode::kInvalidArgument, "elements of the IDX type 0d; expected 08",
              [&] { loadIdx(file); });
}

TEST_F(DataFiles, RejectAFileWithBytesAfterTheLastElement) {
  const std::string file = write("images", idxHeader({2}) + "abc");
  expectError(ErrorCode::kDataLoss,
              "got bytes after the last element; expected the end after 10 bytes",
              [&] { loadIdx(file); });
}

TEST_F(DataFiles, RejectAnImpossibleSize) {
  const std::string file =
      write("images", std::string("\0\0\x08\x03", 4) + std::string(12, '\x7f'));
  expectError(ErrorCode::kDataLoss, "the file is damaged", [&] { loadIdx(file); });
}

TEST_F(DataFiles, LoadMnistPlainOrGzipped) {
  write("train-images-idx3-ubyte", idxHeader({2, 2, 2}) + "abcdefgh");
  writeGzip("train-labels-idx1-ubyte.gz", idxHeader({2}) + "\x03\x07");
  const ImageDataset dataset = loadMnist(dir_.string(), Split::kTrain);
  EXPECT_THAT(shapeOf(dataset.images()), ElementsAre(2, 1, 2, 2));
  EXPECT_EQ(dataset.labels()[1].item<std::int64_t>(), 7);
}

TEST_F(DataFiles, SayHowToGetAMissingDataset) {
  expectError(ErrorCode::kIoError,
              "data set not found: no t10k-images-idx3-ubyte or t10k-images-idx3-ubyte.gz in " +
                  dir_.string() +
                  "; install it: apt-get install dataset-fashion-mnist, or tools/get_data.sh",
              [&] { loadMnist(dir_.string(), Split::kTest); });
}

TEST_F(DataFiles, LoadCifar10Records) {
  std::string bytes;
  for (int image = 0; image < 10000; ++image) {
    bytes += static_cast<char>(image % 10);
    bytes += std::string(1024, 'r') + std::string(1024, 'g') + std::string(1024, 'b');
  }
  write("test_batch.bin", bytes);
  const ImageDataset dataset = loadCifar10(dir_.string(), Split::kTest);
  EXPECT_THAT(shapeOf(dataset.images()), ElementsAre(10000, 3, 32, 32));
  EXPECT_EQ(dataset.images()[9999][1][31][31].item<int>(), 'g');
  EXPECT_EQ(dataset.labels()[9999].item<std::int64_t>(), 9);
}

TEST_F(DataFiles, RejectACifar10LabelAbove9) {
  write("test_batch.bin", std::string(3073, '\x0a'));
  expectError(ErrorCode::kDataLoss, "got the label 10 at image 0; expected 0 to 9",
              [&] { loadCifar10(dir_.string(), Split::kTest); });
}

TEST_F(DataFiles, ReportAMissingFileOfCifar10) {
  expectError(ErrorCode::kIoError, "no data_batch_1.bin in " + dir_.string(),
              [&] { loadCifar10(dir_.string(), Split::kTrain); });
}

TEST_F(DataFiles, MustHaveOneLabelPerImage) {
  expectError(ErrorCode::kInvalidArgument,
              "got labels of shape [3] for images of shape [2, 4, 4]; expected one label per image",
              [] {
                ImageDataset(at::zeros({2, 4, 4}, at::kByte), at::zeros({3}, at::kByte));
              });
}

TEST_F(DataFiles, MustHaveBytesAsPixels) {
  expectError(ErrorCode::kInvalidArgument, "type Float; expected (N, H, W) or (N, C, H, W)", [] {
    ImageDataset(at::zeros({2, 4, 4}), at::zeros({2}, at::kByte));
  });
}

/// Five images of two channels, 2 x 1 pixels, whose bytes count up from 0; labels 0 to 4.
ImageDataset countingImages() {
  return {at::arange(20, at::kByte).view({5, 2, 2, 1}), at::arange(5, at::kByte)};
}

DistributedSampler inOrder(std::int64_t size) {
  DistributedSamplerOptions options;
  options.shuffle = false;
  return {size, Communicator(), options};
}

TEST(ImageLoader, CutsTheEpochIntoBatches) {
  ImageLoader loader(countingImages(), inOrder(5), 2);
  EXPECT_EQ(loader.batches(), 3);
  loader.startEpoch(0);
  std::vector<std::int64_t> sizes;
  Batch batch;
  while (loader.next(batch)) {
    sizes.push_back(batch.size());
  }
  EXPECT_THAT(sizes, ElementsAre(2, 2, 1));
  EXPECT_THAT(shapeOf(batch.inputs), ElementsAre(1, 2, 2, 1));
  EXPECT_EQ(batch.targets.item<std::int64_t>(), 4);
}

TEST(ImageLoader, NormalizesEveryChannelWithItsNumbers) {
  Normalization normalization;
  normalization.mean = {0.5, 0.25};
  normalization.std = {2, 4};
  ImageLoader loader(countingImages(), inOrder(5), 5, normalization);
  loader.startEpoch(0);
  Batch batch;
  ASSERT_TRUE(loader.next(batch));
  const at::Tensor fractions = countingImages().images().to(at::kFloat) / 255;
  const at::Tensor mean = at::tensor({0.5F, 0.25F}).view({1, 2, 1, 1});
  const at::Tensor std = at::tensor({2.0F, 4.0F}).view({1, 2, 1, 1});
  EXPECT_TRUE(at::allclose(batch.inputs, (fractions - mean) / std)) << batch.inputs;
}

TEST(ImageLoader, SkipsBatchesOfAResumedEpoch) {
  ImageLoader loader(countingImages(), inOrder(5), 2);
  loader.startEpoch(0, 2);
  Batch batch;
  ASSERT_TRUE(loader.next(batch));
  EXPECT_EQ(batch.targets.item<std::int64_t>(), 4);
  EXPECT_FALSE(loader.next(batch));
}

TEST(ImageLoader, GivesTensorsThatTheNextBatchDoesNotChange) {
  ImageLoader loader(countingImages(), inOrder(5), 2);
  loader.startEpoch(0);
  Batch first;
  Batch second;
  loader.next(first);
  const at::Tensor copy = first.inputs.clone();
  loader.next(second);
  EXPECT_TRUE(at::equal(first.inputs, copy));
}

TEST(ImageLoader, RejectsANormalizationForOtherChannels) {
  Normalization normalization;
  normalization.mean = {0.1, 0.2, 0.3};
  try {
    const ImageLoader loader(countingImages(), inOrder(5), 2, normalization);
    FAIL() << "accepted three means for two channels";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("for 3 channels; expected one number or 2"));
  }
}

TEST(ImageLoader, RejectsASamplerOfALargerDataset) {
  try {
    const ImageLoader loader(countingImages(), inOrder(6), 2);
    FAIL() << "accepted a sampler of 6 samples";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the sampler deals more samples than the data set's 5"));
  }
}

TEST(ImageLoader, RejectsAnEmptyBatch) {
  try {
    const ImageLoader loader(countingImages(), inOrder(5), 0);
    FAIL() << "accepted a batch size of 0";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("got a batch size of 0; expected at least 1"));
  }
}

}  // namespace
}  // namespace steptape
