// SPDX-License-Identifier: Apache-2.0
#include "base/replacement_file.h"

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "support/content_of.h"
#include "support/small_disk.h"

#include <gmock/gmock.h>

namespace steptape::detail::base {
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

std::string randomText(std::size_t size) {
  std::string text(size, ' ');
  unsigned state = 1;
  for (char& character : text) {
    state = state * 1664525U + 1013904223U;
    character = static_cast<char>(state >> 24U);
  }
  return text;
}

/// Returns the pages of a file that are in the page cache.
std::ptrdiff_t cachedPagesOf(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY);
  const std::size_t size = fs::file_size(path);
  void* const memory = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
  ::close(file);
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages((size + page - 1) / page);
  EXPECT_EQ(::mincore(memory, size, pages.data()), 0);
  ::munmap(memory, size);
  return std::count_if(pages.begin(), pages.end(), [](unsigned char flags) { return flags & 1U; });
}

/// Whether a page that is written to a new file past the page cache is not in it. Some file systems
/// refuse, and others accept but use the page cache, such as tmpfs.
bool writesPastPageCache(const std::string& path) {
  alignas(4096) static const char kPage[4096] = "page";
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_DIRECT, 0666);
  const bool isWritten = file >= 0 && ::write(file, kPage, sizeof kPage) == sizeof kPage;
  ::close(file);
  return isWritten && cachedPagesOf(path) == 0;
}

TEST_F(ReplacementFileTest, HasTheSameBytesPastThePageCache) {
  constexpr std::size_t kMebi = 1 << 20;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{4096}, kMebi - 1,
                                 kMebi, kMebi + 1, 3 * kMebi + 4097}) {
    const std::string text = randomText(size);
    for (const std::size_t piece : {std::size_t{1000}, std::size_t{4096}, 2 * kMebi}) {
      ReplacementFile file(path("file"));
      ASSERT_TRUE(file.open().ok());
      file.bypassPageCache();
      for (std::size_t at = 0; at < size; at += piece) {
        file.write(std::string_view(text).substr(at, piece));
      }
      ASSERT_TRUE(file.finish().ok());
      ASSERT_TRUE(file.appear(true).ok());
      ASSERT_TRUE(contentOf("file") == text) << size << " bytes in pieces of " << piece;
    }
  }
}

TEST_F(ReplacementFileTest, LeavesThePageCacheAloneIfTheFileSystemCan) {
  constexpr std::size_t kBytes = 8 << 20;
  constexpr std::ptrdiff_t kFew = 64;  // Of 2048: the end of the file is not a multiple of a block.
  ReplacementFile file(path("file"));
  ASSERT_TRUE(file.open().ok());
  file.bypassPageCache();
  file.write(randomText(kBytes + 1));
  ASSERT_TRUE(file.finish().ok());
  ASSERT_TRUE(file.appear(true).ok());
  if (writesPastPageCache(path("other"))) {
    EXPECT_LT(cachedPagesOf(path("file")), kFew);
  }
  EXPECT_EQ(fs::file_size(path("file")), kBytes + 1);
}

TEST_F(ReplacementFileTest, NeverAppearsIfTheDiskIsFullPastThePageCache) {
  constexpr std::size_t kMebi = 1 << 20;
  // Whole blocks, a part of a block, and the end of the file.
  for (const std::size_t limit : {std::size_t{0}, 2 * kMebi, kMebi + 1000, 3 * kMebi + 5}) {
    ReplacementFile file(path("file"));
    ASSERT_TRUE(file.open().ok());
    file.bypassPageCache();
    Status status;
    {
      const test::SmallDisk disk(limit);
      file.write(randomText(3 * kMebi + 10));
      status = file.finish();
    }
    EXPECT_EQ(status.message(), "cannot write " + path("file") + ": File too large") << limit;
    EXPECT_EQ(file.appear(true).message(), status.message());
    EXPECT_FALSE(fs::exists(path("file")));
  }
}

}  // namespace
}  // namespace steptape::detail::base
