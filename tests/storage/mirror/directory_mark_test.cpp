// SPDX-License-Identifier: Apache-2.0
#include "storage/mirror/directory_mark.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "steptape/ranks/testing.h"

#include <gtest/gtest.h>

namespace steptape::detail::storage {
namespace {

class DirectoryMarkTest : public ::testing::Test {
 protected:
  std::string directory() const { return directory_.string(); }
  void write(const std::string& text) const {
    std::ofstream(directory() + "/.steptape_mirror") << text;
  }

  const testing::TempDir directory_;
};

TEST_F(DirectoryMarkTest, IsMadeOnce) {
  EXPECT_EQ(readMark(directory()).mark, "");
  const std::string mark = takeMark(directory()).mark;
  EXPECT_EQ(mark.size(), 32U);
  EXPECT_EQ(takeMark(directory()).mark, mark);
  EXPECT_EQ(readMark(directory()).mark, mark);
  EXPECT_EQ(readMark(directory()).url, "");
}

TEST_F(DirectoryMarkTest, DiffersFromThatOfOthers) {
  const testing::TempDir other;
  EXPECT_NE(takeMark(other.string()).mark, takeMark(directory()).mark);
}

TEST_F(DirectoryMarkTest, KeepsTheLastUrl) {
  const std::string mark = takeMark(directory()).mark;
  EXPECT_EQ(takeMark(directory(), "s3://runs/a").mark, mark);
  EXPECT_EQ(readMark(directory()).url, "s3://runs/a");
  EXPECT_EQ(takeMark(directory()).url, "s3://runs/a");
  EXPECT_EQ(takeMark(directory(), "s3://runs/b").mark, mark);
  EXPECT_EQ(readMark(directory()).url, "s3://runs/b");
}

TEST_F(DirectoryMarkTest, IsEmptyWhereItCannotBeReadOrMade) {
  EXPECT_EQ(takeMark(directory() + "/none").mark, "");
  for (const std::string text : {"", "no mark\n", "0123456789abcdef0123456789abcde\n",
                                 "0123456789abcdef0123456789abcdeg\n", "mirror: s3://runs/a\n"}) {
    write(text);
    EXPECT_EQ(takeMark(directory(), "s3://runs/a").mark, "") << text;
    EXPECT_EQ(readMark(directory()).url, "") << text;
  }
}

TEST_F(DirectoryMarkTest, IsNotWrittenThroughALink) {
  const testing::TempDir other;
  std::filesystem::create_symlink(other.string() + "/file", directory() + "/.steptape_mirror");
  EXPECT_EQ(takeMark(directory()).mark, "");
  EXPECT_TRUE(std::filesystem::is_empty(other.string()));
}

}  // namespace
}  // namespace steptape::detail::storage
