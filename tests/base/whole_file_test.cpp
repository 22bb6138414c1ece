// SPDX-License-Identifier: Apache-2.0
#include "base/whole_file.h"

#include <filesystem>
#include <string>

#include "steptape/ranks/testing.h"

#include <gtest/gtest.h>

namespace steptape::detail::base {
namespace {

class WholeFile : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return dir_.string() + "/" + name; }

 private:
  testing::TempDir dir_;
};

TEST_F(WholeFile, ReadsItsContentBack) {
  // Longer than one read.
  std::string content(200'000, 'x');
  content[100'000] = '\0';
  ASSERT_TRUE(replaceFile(path("file"), content).ok());
  std::string bytes = "something else";
  ASSERT_TRUE(readWholeFile(path("file"), bytes).ok());
  EXPECT_EQ(bytes, content);
}

TEST_F(WholeFile, ReplacesAFileAndCreatesItsDirectories) {
  const std::string file = path("a/b/file");
  ASSERT_TRUE(replaceFile(file, "first").ok());
  ASSERT_TRUE(replaceFile(file, "second").ok());
  std::string bytes;
  ASSERT_TRUE(readWholeFile(file, bytes).ok());
  EXPECT_EQ(bytes, "second");
}

TEST_F(WholeFile, ReportsWhyItCannotRead) {
  std::string bytes;
  const Status missing = readWholeFile(path("none"), bytes);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.code(), ErrorCode::kIoError);
  EXPECT_EQ(missing.message(), "cannot read " + path("none") + ": No such file or directory");
  const Status directory = readWholeFile(path(""), bytes);
  ASSERT_FALSE(directory.ok());
  EXPECT_EQ(directory.message(), "cannot read " + path("") + ": Is a directory");
}

TEST_F(WholeFile, ReportsWhyItCannotCreateADirectory) {
  ASSERT_TRUE(replaceFile(path("file"), "").ok());
  const Status status = createDirectoriesOf(path("file/file"));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.code(), ErrorCode::kIoError);
  EXPECT_EQ(status.message(), "cannot create the directory " + path("file") + ": Not a directory");
}

}  // namespace
}  // namespace steptape::detail::base
