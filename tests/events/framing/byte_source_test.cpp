// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <utility>

#include "steptape/base/status.h"
#include "steptape/events/record_reader.h"

#include "support/expect_error.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::HasSubstr;

std::string readAt(const ByteSource& source, std::uint64_t offset, std::size_t size) {
  std::string bytes(size, '?');
  std::size_t got = 0;
  const Status status = source.read(offset, bytes.data(), size, &got);
  EXPECT_TRUE(status.ok()) << status.message();
  bytes.resize(got);
  return bytes;
}

TEST(MemoryByteSource, ReadsAtAnyPosition) {
  const MemoryByteSource source("abcdef");
  EXPECT_EQ(readAt(source, 0, 3), "abc");
  EXPECT_EQ(readAt(source, 4, 10), "ef");
}

TEST(MemoryByteSource, EndsWithoutAnError) {
  const MemoryByteSource source("abc");
  EXPECT_EQ(readAt(source, 3, 5), "");
  EXPECT_EQ(readAt(source, 100, 5), "");
}

TEST(MemoryByteSource, Grows) {
  MemoryByteSource source("abc");
  source.append("def");
  EXPECT_EQ(readAt(source, 2, 10), "cdef");
}

class FileByteSourceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "byte_source_" +
            ::testing::UnitTest::GetInstance()->current_test_info()->name();
  }
  void TearDown() override { std::remove(path_.c_str()); }
  void append(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary | std::ios::app) << bytes;
  }

  std::string path_;
};

TEST_F(FileByteSourceTest, ReadsAtAnyPosition) {
  append("abcdef");
  const FileByteSource source(path_);
  EXPECT_EQ(readAt(source, 4, 10), "ef");
  EXPECT_EQ(readAt(source, 0, 3), "abc");
}

TEST_F(FileByteSourceTest, SeesAFileGrow) {
  append("abc");
  const FileByteSource source(path_);
  EXPECT_EQ(readAt(source, 3, 10), "");
  append("def");
  EXPECT_EQ(readAt(source, 3, 10), "def");
}

TEST_F(FileByteSourceTest, IsNamedByItsPath) {
  append("");
  EXPECT_EQ(FileByteSource(path_).name(), path_);
}

TEST_F(FileByteSourceTest, ReportsWhichFileCannotBeOpenedAndWhy) {
  try {
    FileByteSource source(path_);
    FAIL() << "opened a file that is not there";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kIoError);
    EXPECT_EQ(std::string(error.what()), "cannot open " + path_ + ": No such file or directory");
  }
}

TEST_F(FileByteSourceTest, ReportsAReadThatFails) {
  constexpr std::uint64_t kNoOffset = std::uint64_t{1} << 63;  // offsets are signed
  append("bytes");
  const FileByteSource source(path_);
  char byte;
  std::size_t got = 7;
  const Status status = source.read(kNoOffset, &byte, 1, &got);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.code(), ErrorCode::kIoError);
  EXPECT_EQ(got, 0u);
  EXPECT_EQ(status.message(),
            "cannot read at offset 9223372036854775808 of " + path_ + ": Invalid argument");
}

TEST_F(FileByteSourceTest, NamesTheKindOfASpecialFile) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  const std::pair<std::string, std::string> strangers[] = {
      {path_, "a FIFO"}, {testing::TempDir(), "a directory"}, {"/dev/null", "a character device"}};
  for (const auto& [path, kind] : strangers) {
    const Error error = test::errorOf([&stranger = path] { FileByteSource{stranger}; });
    EXPECT_EQ(error.code(), ErrorCode::kIoError);
    EXPECT_EQ(std::string(error.what()),
              "cannot read " + path + ": got " + kind + "; expected a regular file");
  }
}

}  // namespace
}  // namespace steptape
