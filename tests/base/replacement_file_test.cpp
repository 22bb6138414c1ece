// SPDX-License-Identifier: Apache-2.0
#include "base/replacement_file.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>
#include <vector>

#include "support/content_of.h"

#include <gmock/gmock.h>

namespace steptape::detail {
namespace {

namespace fs = std::filesystem;

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ReplacementFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "steptape_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string path(const std::string& name) const { return root_ + "/" + name; }
  std::string contentOf(const std::string& name) const { return test::contentOf(path(name)); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(root_)) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

  std::string root_;
};

TEST_F(ReplacementFileTest, AppearsWhenItIsComplete) {
  ReplacementFile file(path("file"));
  ASSERT_TRUE(file.open().ok());
  file.write("con");
  file.write("tent");
  ASSERT_TRUE(file.finish().ok());
  EXPECT_FALSE(fs::exists(path("file")));
  ASSERT_TRUE(file.appear(false).ok());
  EXPECT_EQ(contentOf("file"), "content");
}

TEST_F(ReplacementFileTest, RemovesItsTemporaryFileIfItNeverAppears) {
  {
    ReplacementFile file(path("file"));
    ASSERT_TRUE(file.open().ok());
    file.write("content");
    EXPECT_EQ(names().size(), 1u);
  }
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(ReplacementFileTest, TakesThePlaceOfAnotherOnlyIfItMay) {
  write("file", "old");
  {
    ReplacementFile file(path("file"));
    ASSERT_TRUE(file.open().ok());
    ASSERT_TRUE(file.finish().ok());
    const Status status = file.appear(false);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.code(), ErrorCode::kFailedPrecondition);
    EXPECT_EQ(status.message(), "cannot write " + path("file") + ": the file exists");
    EXPECT_EQ(contentOf("file"), "old");
    ASSERT_TRUE(file.appear(true).ok());
  }
  EXPECT_EQ(contentOf("file"), "");
  EXPECT_THAT(names(), ElementsAre("file"));
}

TEST_F(ReplacementFileTest, HasThePermissionsThatItIsGiven) {
  ReplacementFile file(path("file"), 0640);
  ASSERT_TRUE(file.open().ok());
  ASSERT_TRUE(file.finish().ok());
  ASSERT_TRUE(file.appear(false).ok());
  EXPECT_EQ(fs::status(path("file")).permissions(), fs::perms(0640));
}

TEST_F(ReplacementFileTest, ElseHasThoseOfAnyNewFile) {
  const mode_t before = ::umask(0027);
  ReplacementFile file(path("file"));
  const Status opened = file.open();
  ::umask(before);
  ASSERT_TRUE(opened.ok());
  ASSERT_TRUE(file.finish().ok());
  ASSERT_TRUE(file.appear(false).ok());
  EXPECT_EQ(fs::status(path("file")).permissions(), fs::perms(0640));
}

TEST_F(ReplacementFileTest, SeveralOfTheSameNameDoNotMix) {
  ReplacementFile first(path("file"));
  ReplacementFile second(path("file"));
  ASSERT_TRUE(first.open().ok());
  ASSERT_TRUE(second.open().ok());
  first.write("first");
  second.write("second");
  ASSERT_TRUE(second.finish().ok());
  ASSERT_TRUE(second.appear(true).ok());
  EXPECT_EQ(contentOf("file"), "second");
  ASSERT_TRUE(first.finish().ok());
  ASSERT_TRUE(first.appear(true).ok());
  EXPECT_EQ(contentOf("file"), "first");
}

TEST_F(ReplacementFileTest, ReportsWhyItCannotBeCreated) {
  ReplacementFile file(path("absent/file"));
  const Status status = file.open();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.code(), ErrorCode::kIoError);
  EXPECT_EQ(status.message(),
            "cannot write " + path("absent/file") + ": No such file or directory");
}

TEST_F(ReplacementFileTest, NeverAppearsOnceSomethingCouldNotBeWritten) {
  // With SIGXFSZ ignored, write() beyond the limit fails with EFBIG instead of ending the process.
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit limit = before;
  limit.rlim_cur = 1000;
  ReplacementFile file(path("file"));
  ASSERT_TRUE(file.open().ok());
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  static_cast<void>(file.write(std::string(1'000'000, 'x')));
  const Status status = file.finish();
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, SIG_DFL);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.message(), "cannot write " + path("file") + ": File too large");
  EXPECT_EQ(file.appear(true).message(), status.message());
  EXPECT_FALSE(fs::exists(path("file")));
}

}  // namespace
}  // namespace steptape::detail
