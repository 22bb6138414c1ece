// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "storage/mirror/bucket_copy.h"
#include "storage/mirror/mirror_fixture.h"
#include "storage/mirror/send_directory.h"
#include "support/small_disk.h"

#include <gmock/gmock.h>

namespace steptape::detail::storage {
namespace {

using test::LoopbackAnswer;
using test::LoopbackEnding;
using test::LoopbackRequest;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class BucketCopyTrouble : public MirrorTest {
 protected:
  static constexpr std::size_t kLarge = 300'000;

  /// Stores an object as a mirror does.
  void send(const std::string& bytes) {
    write("a", bytes);
    EXPECT_THAT(sendDirectory(directory(), url()).problems, IsEmpty());
  }
  static BucketUrl url() { return parseBucketUrl("s3://runs/exp", "test"); }
  std::string copyOf(const std::string& name) const { return copies_.string() + '/' + name; }
  std::string copied() const { return test::contentOf(copyOf("a")); }
  BucketCopy::Update update() {
    BucketCopy::Options options;
    options.directory = copies_.string();
    if (whole_.size() < 2 * kLarge) {
      options.onProgress = [this](std::uint64_t) { isAlwaysStart_ = isAlwaysStart_ && isStart(); };
    }
    return BucketCopy(url(), std::move(options)).update();
  }
  bool isStart() const { return whole_.compare(0, copied().size(), copied()) == 0; }

  const testing::TempDir copies_;
  std::string whole_;  // which the file is the start of, at any time
  bool isAlwaysStart_ = true;
};

TEST_F(BucketCopyTrouble, ContinuesAFileOfAnEarlierCopy) {
  whole_ = std::string(kLarge, 'x') + "end";
  send("");
  EXPECT_EQ(update().read, 1U);
  send(whole_.substr(0, 1000));
  EXPECT_EQ(update().bytes, 1000U);
  send(whole_);
  const BucketCopy::Update last = update();
  EXPECT_EQ(last.bytes, whole_.size() - 1000) << "and nothing twice";
  EXPECT_THAT(last.problems, IsEmpty());
  EXPECT_EQ(copied(), whole_);
  EXPECT_TRUE(isAlwaysStart_);
  EXPECT_EQ(update().read, 0U);
}

TEST_F(BucketCopyTrouble, NeverChangesAFileOfAnotherOrigin) {
  whole_ = "somebody's own notes";
  send(std::string(kLarge, 'x'));
  std::ofstream(copyOf("a")) << whole_;
  const BucketCopy::Update update = this->update();
  ASSERT_EQ(update.problems.size(), 1U);
  EXPECT_THAT(update.problems.front().message(), HasSubstr("a file with other bytes"));
  EXPECT_TRUE(isAlwaysStart_) << "not even for a moment";
  EXPECT_EQ(copied(), whole_);
}

TEST_F(BucketCopyTrouble, ContinuesAFileThatLacksMoreThanFitsIntoMemory) {
  whole_ = std::string(std::size_t{9} << 20, 'x');
  send(whole_.substr(0, 10));
  update();
  send(whole_);
  EXPECT_THAT(update().problems, IsEmpty());
  EXPECT_TRUE(copied() == whole_);
}

TEST_F(BucketCopyTrouble, KeepsNothingOfATransferThatBreaksOffBeforeItIsKnownToFit) {
  whole_ = std::string(kLarge, 'x');
  send(whole_.substr(0, 10));
  update();
  send(whole_);
  server_.setChange([](const LoopbackRequest& request, LoopbackAnswer* answer) {
    if (!request.header("range").empty()) {
      answer->sentBytes = 100'000;
      answer->ending = LoopbackEnding::kClose;
    }
  });
  EXPECT_EQ(update().problems.size(), 1U);
  EXPECT_TRUE(isStart());
  server_.setChange({});
  EXPECT_THAT(update().problems, IsEmpty());
  EXPECT_EQ(copied(), whole_);
}

TEST_F(BucketCopyTrouble, MakesNoFileThatDoesNotFitOntoTheDisk) {
  whole_ = std::string(kLarge, 'x') + "end";
  send(whole_);
  {
    const test::SmallDisk disk(1000);
    const BucketCopy::Update update = this->update();
    ASSERT_EQ(update.problems.size(), 1U);
    EXPECT_THAT(update.problems.front().message(), HasSubstr("File too large"));
    EXPECT_FALSE(std::filesystem::exists(copyOf("a")));
  }
  EXPECT_THAT(update().problems, IsEmpty());
  EXPECT_EQ(copied(), whole_);
}

TEST_F(BucketCopyTrouble, LeavesAFileAsItWasIfMoreDoesNotFitOntoTheDisk) {
  whole_ = std::string(kLarge, 'x') + "end";
  send(whole_.substr(0, 1000));
  update();
  send(whole_);
  {
    const test::SmallDisk disk(2000);
    EXPECT_EQ(update().problems.size(), 1U);
    EXPECT_EQ(copied(), whole_.substr(0, 1000));
  }
  EXPECT_THAT(update().problems, IsEmpty());
  EXPECT_EQ(copied(), whole_);
}

TEST_F(BucketCopyTrouble, MakesNoFileOfATransferThatBreaksOffBeforeItsFirstByte) {
  send("bytes");
  server_.setChange([](const LoopbackRequest& request, LoopbackAnswer* answer) {
    if (request.method == "GET" && request.path() == "/runs/exp/a") {
      answer->sentBytes = 0;
      answer->ending = LoopbackEnding::kClose;
    }
  });
  EXPECT_EQ(update().problems.size(), 1U);
  EXPECT_FALSE(std::filesystem::exists(copyOf("a")));
  server_.setChange({});
  EXPECT_THAT(update().problems, IsEmpty());
  EXPECT_EQ(copied(), "bytes");
}

TEST_F(BucketCopyTrouble, MakesNoFileOfThePageOfAProxy) {
  send("bytes");
  server_.setRule([](const LoopbackRequest& request) -> std::optional<LoopbackAnswer> {
    LoopbackAnswer page;
    page.body = "<html>Please log in</html>";
    return request.path() == "/runs/exp/a" ? std::optional(page) : std::nullopt;
  });
  EXPECT_EQ(update().problems.size(), 1U);
  EXPECT_FALSE(std::filesystem::exists(copyOf("a")));
  server_.setRule({});
  EXPECT_THAT(update().problems, IsEmpty());
  EXPECT_EQ(copied(), "bytes");
}

}  // namespace
}  // namespace steptape::detail::storage
