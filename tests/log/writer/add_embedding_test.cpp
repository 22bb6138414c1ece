// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "steptape/log/summary_writer.h"
#include "steptape/ranks/testing.h"

#include "log/writer/fake_device.h"
#include "log/writer/faulty_file_system.h"
#include "log/writer/run_contents.h"
#include "log/writer/writer_fixture.h"
#include "support/content_of.h"
#include "values/kinds/image/image.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using detail::log::FileSystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

class AddEmbeddingTest : public WriterFixture {
 protected:
  /// Returns paths below the run's directory, without its event files, in order.
  std::vector<std::string> files() const {
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(dir_.path())) {
      const std::string path = std::filesystem::relative(entry.path(), dir_.path()).string();
      if (entry.is_regular_file() && path.find("tfevents") == std::string::npos &&
          path != ".steptape_owner") {
        paths.push_back(path);
      }
    }
    std::sort(paths.begin(), paths.end());
    return paths;
  }
  std::string text(const std::string& path) const { return test::contentOf(dir_.path() / path); }

  const std::vector<float> values_ = {0.5F, 1.5F, -2.0F, 1e-3F};
  const TensorView matrix_{values_.data(), {2, 2}};
};

TEST_F(AddEmbeddingTest, ReportsImagesFarOutside0To1) {
  const std::vector<float> images = {10, 20};
  EmbeddingOptions options;
  options.labelImages = TensorView(images.data(), {2, 1, 1, 1});
  SummaryWriter writer = open();
  writer.addEmbedding("layer", matrix_, 0, options);
  writer.addEmbedding("layer", matrix_, 1, options);
  expectOk(writer.close());
  EXPECT_THAT(
      reports(),
      ElementsAre(HasSubstr("labelImages of \"layer\": got floating-point colors up to 20; ")));
}

TEST_F(AddEmbeddingTest, WritesTheFilesAndNamesThem) {
  const std::vector<std::uint8_t> images = {10, 20};
  EmbeddingOptions options;
  options.metadata = {{"cat", "1"}, {"dog", "2"}};
  options.metadataHeader = {"name", "class"};
  options.labelImages = TensorView(images.data(), {2, 1, 1, 1});
  SummaryWriter writer = open();
  writer.addEmbedding("last/layer", matrix_, 7, options);
  expectOk(writer.close());

  EXPECT_THAT(files(),
              ElementsAre("00007/last%2flayer/metadata.tsv", "00007/last%2flayer/sprite.png",
                          "00007/last%2flayer/tensors.tsv", "projector_config.pbtxt"));
  EXPECT_EQ(text("00007/last%2flayer/tensors.tsv"), "0.5\t1.5\n-2\t0.001\n");
  EXPECT_EQ(text("00007/last%2flayer/metadata.tsv"), "name\tclass\ncat\t1\ndog\t2\n");
  EXPECT_EQ(text("00007/last%2flayer/sprite.png"),
            detail::values::encodePng({2, 2, 1, {10, 20, 0, 0}}));
  EXPECT_EQ(text("projector_config.pbtxt"), R"(embeddings {
  tensor_name: "last/layer:00007"
  metadata_path: "00007/last%2flayer/metadata.tsv"
  sprite {
    image_path: "00007/last%2flayer/sprite.png"
    single_image_dim: 1
    single_image_dim: 1
  }
  tensor_path: "00007/last%2flayer/tensors.tsv"
}
)");
  EXPECT_THAT(reports(), IsEmpty());
}

TEST_F(AddEmbeddingTest, ListsEveryTagAndStepInOneConfig) {
  SummaryWriter writer = open();
  for (const char* tag : {"a", "b"}) {
    for (const std::int64_t step : {0, 1}) {
      EmbeddingOptions options;
      options.tag = tag;
      options.step = step;
      writer.addEmbedding(matrix_, options);
    }
  }
  expectOk(writer.flush());
  EXPECT_THAT(files(),
              ElementsAre("00000/a/tensors.tsv", "00000/b/tensors.tsv", "00001/a/tensors.tsv",
                          "00001/b/tensors.tsv", "projector_config.pbtxt"));
  const std::string config = text("projector_config.pbtxt");
  for (const char* name : {"\"a:00000\"", "\"a:00001\"", "\"b:00000\"", "\"b:00001\""}) {
    EXPECT_THAT(config, HasSubstr(std::string("tensor_name: ") + name));
  }
}

TEST_F(AddEmbeddingTest, ReplacesAnEmbeddingOfTheSameTagAndStep) {
  SummaryWriter writer = open();
  EmbeddingOptions options;
  options.metadata = {{"x"}, {"y"}};
  writer.addEmbedding(matrix_, options);
  writer.addEmbedding(TensorView(values_.data(), {1, 4}));
  expectOk(writer.flush());
  EXPECT_EQ(text("00000/default/tensors.tsv"), "0.5\t1.5\t-2\t0.001\n");
  EXPECT_EQ(text("projector_config.pbtxt"), R"(embeddings {
  tensor_name: "default:00000"
  tensor_path: "00000/default/tensors.tsv"
}
)");
}

TEST_F(AddEmbeddingTest, KeepsWhatAnEarlierProcessListed) {
  const std::string before = "# kept\nembeddings {\ntensor_name: \"old:00000\"\n}\n";
  std::ofstream(dir_.path() / "projector_config.pbtxt") << before;
  SummaryWriter writer = open();
  writer.addEmbedding(matrix_);
  expectOk(writer.flush());
  const std::string after = text("projector_config.pbtxt");
  EXPECT_THAT(after, StartsWith(before));
  EXPECT_THAT(after, HasSubstr("tensor_name: \"default:00000\""));
}

TEST_F(AddEmbeddingTest, LeavesAConfigThatItCannotReadAlone) {
  std::ofstream(dir_.path() / "projector_config.pbtxt") << "embeddings {";
  SummaryWriter writer = open();
  writer.addEmbedding(matrix_);
  const Status status = writer.flush();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.code(), ErrorCode::kDataLoss);
  EXPECT_EQ(status.message(),
            dir_.string() +
                "/projector_config.pbtxt: got another format; expected a projector config in text "
                "format. The file is unchanged, and the embedding "
                "\"default:00000\" is in 00000/default");
  EXPECT_EQ(text("projector_config.pbtxt"), "embeddings {");
  EXPECT_EQ(text("00000/default/tensors.tsv"), "0.5\t1.5\n-2\t0.001\n");
}

TEST_F(AddEmbeddingTest, HasTakenEverythingWhenItReturns) {
  std::vector<float> values = {1, 2};
  std::vector<float> images = {0, 1};
  EmbeddingOptions options;
  options.metadata = {{"one"}, {"two"}};
  options.labelImages = TensorView(images.data(), {2, 1, 1, 1});
  SummaryWriter writer = open();
  writer.addEmbedding(TensorView(values.data(), {2, 1}), options);
  values.assign(2, -1);
  images.assign(2, 0.5F);
  options.metadata.clear();
  expectOk(writer.flush());
  EXPECT_EQ(text("00000/default/tensors.tsv"), "1\n2\n");
  EXPECT_EQ(text("00000/default/metadata.tsv"), "one\ntwo\n");
  EXPECT_EQ(text("00000/default/sprite.png"), detail::values::encodePng({2, 2, 1, {0, 255, 0, 0}}));
}

TEST_F(AddEmbeddingTest, WritesNothingIfItRejectsTheCall) {
  SummaryWriter writer = open();
  EmbeddingOptions options;
  options.metadata = {{"too few"}};
  EXPECT_THROW(writer.addEmbedding(matrix_, options), Error);
  EXPECT_THROW(writer.addEmbedding(TensorView(values_.data(), {4})), Error);
  expectOk(writer.close());
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(AddEmbeddingTest, DoesNothingForADisabledWriter) {
  WriterOptions options;
  options.enabled = false;
  SummaryWriter writer(dir_.string(), options);
  writer.addEmbedding(matrix_);
  expectOk(writer.close());
  EXPECT_THAT(files(), IsEmpty());
}

/// Elements that arrive when the backend waits for them.
TEST_F(AddEmbeddingTest, TakesTensorsThatAreInFlight) {
  FakeDevice device;
  EmbeddingOptions options;
  options.labelImages = device.copy({0, 1}, {2, 1, 1, 1});
  SummaryWriter writer = open();
  writer.addEmbedding(device.copy({1, 2}, {2, 1}), options);
  device.finish();
  expectOk(writer.flush());
  EXPECT_EQ(text("00000/default/tensors.tsv"), "1\n2\n");
  EXPECT_EQ(text("00000/default/sprite.png"), detail::values::encodePng({2, 2, 1, {0, 255, 0, 0}}));
}

class EmbeddingDiskTroubleTest : public AddEmbeddingTest {
 protected:
  FaultyFileSystem disk_;  // outlives the writers of the tests
};

TEST_F(EmbeddingDiskTroubleTest, ReportsAFullDiskAndLeavesNoHalfFile) {
  SummaryWriter writer = open();
  expectOk(writer.flush());
  disk_.breakWrites(ENOSPC);
  disk_.tearWrites(3);
  writer.addEmbedding(matrix_);
  const Status status = writer.flush();
  EXPECT_EQ(status.message(), "cannot write to " + dir_.string() +
                                  "/00000/default/tensors.tsv.part: No space left on device");
  EXPECT_THAT(reports(), ElementsAre(status.message()));
  EXPECT_THAT(files(), IsEmpty());
  disk_.breakWrites(0);
  expectOk(writer.close());
  EXPECT_EQ(disk_.openDescriptors(), 0);
}

TEST_F(EmbeddingDiskTroubleTest, KeepsTheOldFilesIfTheNewOnesCannotBeWritten) {
  SummaryWriter writer = open();
  writer.addEmbedding(matrix_);
  expectOk(writer.flush());
  const std::string config = text("projector_config.pbtxt");
  disk_.breakRename(EACCES);
  writer.addEmbedding(TensorView(values_.data(), {4, 1}));
  EXPECT_EQ(writer.flush().message(), "cannot rename " + dir_.string() +
                                          "/00000/default/tensors.tsv.part: Permission denied");
  EXPECT_EQ(text("00000/default/tensors.tsv"), "0.5\t1.5\n-2\t0.001\n");
  EXPECT_EQ(text("projector_config.pbtxt"), config);
  EXPECT_THAT(files(), SizeIs(2));
}

TEST_F(EmbeddingDiskTroubleTest, ContinuesAfterShortWrites) {
  disk_.shortenWrites(5);
  SummaryWriter writer = open();
  writer.addEmbedding(matrix_);
  expectOk(writer.close());
  EXPECT_EQ(text("00000/default/tensors.tsv"), "0.5\t1.5\n-2\t0.001\n");
}

TEST_F(EmbeddingDiskTroubleTest, TakesThePlaceOfWhatAKilledProcessLeft) {
  std::filesystem::create_directories(dir_.path() / "00000/default");
  std::ofstream(dir_.path() / "00000/default/tensors.tsv.part") << "half";
  SummaryWriter writer = open();
  writer.addEmbedding(matrix_);
  expectOk(writer.close());
  EXPECT_THAT(files(), ElementsAre("00000/default/tensors.tsv", "projector_config.pbtxt"));
}

/// Records the writes by file, and takes 5 ms for a piece of a matrix.
class SlowDisk final : public FileSystem {
 public:
  SlowDisk() { FileSystem::setForTesting(this); }
  ~SlowDisk() override { FileSystem::setForTesting(nullptr); }

  /// Waits until the first piece of a matrix is being written; the disk then waits for letGo().
  bool waitForMatrix() {
    std::unique_lock<std::mutex> lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), [this] { return hasMatrix_; });
  }
  void letGo() {
    std::lock_guard<std::mutex> lock(mutex_);
    isFree_ = true;
    changed_.notify_all();
  }
  /// Returns the names of the files written, one for each write, in order.
  std::vector<std::string> written() {
    std::lock_guard<std::mutex> lock(mutex_);
    return written_;
  }
  std::size_t largestWrite() {
    std::lock_guard<std::mutex> lock(mutex_);
    return largestWrite_;
  }

  int createExclusive(const std::string& path, int* descriptor) override {
    const int error = FileSystem::createExclusive(path, descriptor);
    std::lock_guard<std::mutex> lock(mutex_);
    names_[*descriptor] = path;
    return error;
  }
  int write(int descriptor, std::string_view bytes, std::size_t* written) override {
    {
      std::unique_lock<std::mutex> lock(mutex_);
      written_.push_back(names_[descriptor]);
      largestWrite_ = std::max(largestWrite_, bytes.size());
      hasMatrix_ = hasMatrix_ || isMatrix(written_.back());
      changed_.notify_all();
      if (isMatrix(written_.back())) {
        changed_.wait_for(lock, std::chrono::seconds(20), [this] { return isFree_; });
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    }
    return FileSystem::write(descriptor, bytes, written);
  }
  static bool isMatrix(const std::string& path) {
    return path.find("tensors.tsv") != std::string::npos;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<int, std::string> names_;
  std::vector<std::string> written_;
  std::size_t largestWrite_ = 0;
  bool hasMatrix_ = false;
  bool isFree_ = false;
};

TEST_F(AddEmbeddingTest, YieldsToOtherWritersBetweenThePieces) {
  SlowDisk disk;
  const testing::TempDir otherDir;
  WriterOptions options;
  options.flushPeriod = std::chrono::milliseconds(1);
  SummaryWriter other(otherDir.string(), options);
  SummaryWriter writer = open();
  expectOk(other.flush());
  expectOk(writer.flush());

  std::vector<float> values(300'000);
  std::iota(values.begin(), values.end(), 1'000'001.0F);
  writer.addEmbedding(TensorView(values.data(), {3000, 100}));
  ASSERT_TRUE(disk.waitForMatrix());
  other.addScalar("loss", 1, 0);
  disk.letGo();
  expectOk(writer.flush());

  const std::vector<std::string> written = disk.written();
  const auto firstPiece = std::find_if(written.begin(), written.end(), SlowDisk::isMatrix);
  const auto lastPiece = std::find_if(written.rbegin(), written.rend(), SlowDisk::isMatrix).base();
  const auto scalar = std::find_if(firstPiece, lastPiece, [&](const std::string& path) {
    return path.find(otherDir.string()) == 0;
  });
  EXPECT_GT(lastPiece - firstPiece, 30);
  EXPECT_NE(scalar, lastPiece) << "the scalar waited for the whole matrix";
  EXPECT_LE(disk.largestWrite(), std::size_t{64} << 10);
  expectOk(other.close());
  EXPECT_THAT(scalarsIn(otherDir.string()), SizeIs(1));
  EXPECT_EQ(std::count(written.begin(), written.end(), ""), 0);
  const std::string matrix = text("00000/default/tensors.tsv");
  EXPECT_EQ(std::count(matrix.begin(), matrix.end(), '\n'), 3000);
  EXPECT_EQ(matrix.substr(0, 16), "1000001\t1000002\t");
  EXPECT_EQ(matrix.substr(matrix.size() - 16), "1299999\t1300000\n");
}

}  // namespace
}  // namespace steptape
