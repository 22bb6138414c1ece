// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "steptape/ranks/testing.h"
#include "steptape/train/safetensors.h"

#include "support/content_of.h"
#include "support/expect_error.h"
#include "support/small_disk.h"
#include "train/safetensors/safetensors_bytes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using test::contentOf;
using test::elementsOf;
using test::expectInvalidArgument;
using ::testing::ElementsAre;

constexpr auto kU8 = SafetensorsDType::kU8;

class WriteSafetensors : public ::testing::Test {
 protected:
  /// Writes one tensor of `bytes` bytes.
  void writeOne(const std::string& elements) const {
    writeSafetensors(path_, {{"w", kU8, {static_cast<std::int64_t>(elements.size())}}},
                     [&](std::size_t) { return elements.data(); });
  }

  std::size_t filesInDirectory() const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(dir_.string())) {
      count += entry.exists() ? 1 : 0;
    }
    return count;
  }

  testing::TempDir dir_;
  std::string path_ = dir_.string() + "/model.safetensors";
};

TEST_F(WriteSafetensors, WritesTheBytesOfPython) {
  const std::vector<float> weight{1, 2, 3, 4};
  const std::int64_t count = 7;
  const std::uint16_t half = 0x3e00;
  const std::vector<const void*> elements{&half, weight.data(), &count, nullptr};
  writeSafetensors(path_,
                   {{"h", SafetensorsDType::kF16, {1}},
                    {"b.weight", SafetensorsDType::kF32, {2, 2}},
                    {"a.count", SafetensorsDType::kI64, {}},
                    {"größe\n\"x\"", kU8, {0, 3}}},
                   [&](std::size_t index) { return elements[index]; }, {{"format", "pt"}});
  EXPECT_EQ(contentOf(path_), test::pythonsFile());
}

TEST_F(WriteSafetensors, OrdersByTypeAndThenByName) {
  std::vector<SafetensorsInfo> tensors;
  for (int type = 0; type <= static_cast<int>(SafetensorsDType::kU64); ++type) {
    for (const char* const name : {"b", "a"}) {
      const auto dtype = static_cast<SafetensorsDType>(type);
      tensors.push_back({std::string(name) + safetensorsDTypeName(dtype), dtype, {4}});
    }
  }
  const std::string elements(4 * 8, 'x');
  std::vector<std::size_t> asked;
  writeSafetensors(path_, tensors, [&](std::size_t index) {
    asked.push_back(index);
    return elements.data();
  });
  const SafetensorsFile file(path_);
  ASSERT_EQ(file.entries().size(), tensors.size());
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const std::size_t fromEnd = tensors.size() - 1 - i;
    EXPECT_EQ(asked[i], fromEnd) << "the elements are asked for in the order of the file";
    EXPECT_EQ(file.entries()[i].name, tensors[fromEnd].name);
    EXPECT_EQ(file.entries()[i].dtype, tensors[fromEnd].dtype);
    EXPECT_THAT(file.entries()[i].shape, ElementsAre(4));
  }
}

TEST_F(WriteSafetensors, AlignsTheFirstTensor) {
  for (std::size_t length = 1; length <= 8; ++length) {
    writeSafetensors(path_, {{std::string(length, 'n'), kU8, {1}}},
                     [](std::size_t) { return "x"; });
    const SafetensorsFile file(path_);
    EXPECT_EQ(file.entries()[0].offset % 8, 0u);
    EXPECT_EQ(elementsOf(file, file.entries()[0]), "x");
  }
}

TEST_F(WriteSafetensors, WritesAFileWithoutTensors) {
  const auto noElements = [](std::size_t) -> const void* { return nullptr; };
  writeSafetensors(path_, {}, noElements);
  EXPECT_EQ(contentOf(path_), test::safetensorsBytes("{}      "));
  writeSafetensors(path_, {}, noElements, {{"é", "\"\n"}, {"b", ""}});
  EXPECT_EQ(SafetensorsFile(path_).metadata(), (SafetensorsMetadata{{"é", "\"\n"}, {"b", ""}}));
}

TEST_F(WriteSafetensors, CreatesDirectories) {
  path_ = dir_.string() + "/new/directory/model.safetensors";
  writeOne("abc");
  EXPECT_EQ(SafetensorsFile(path_).entries().size(), 1u);
}

TEST_F(WriteSafetensors, RefusesTensorsThatNoReaderAccepts) {
  writeOne("old");
  const std::string before = contentOf(path_);
  const auto write = [this](const std::vector<SafetensorsInfo>& tensors,
                            const SafetensorsMetadata& metadata = {}) {
    return [=] {
      writeSafetensors(
          path_, tensors, [](std::size_t) { return "abcd"; }, metadata);
    };
  };
  expectInvalidArgument(write({{"a", kU8, {1}}, {"b", kU8, {1}}, {"a", kU8, {1}}}),
                        "writeSafetensors \"a\": got two tensors of this name; expected one");
  expectInvalidArgument(write({{"__metadata__", kU8, {1}}}),
                        "writeSafetensors \"__metadata__\": got this name; expected UTF-8 other "
                        "than \"__metadata__\"");
  expectInvalidArgument(write({{"a\xff", kU8, {1}}}),
                        "writeSafetensors \"a\uFFFD\": got this name; expected UTF-8 other than "
                        "\"__metadata__\"");
  expectInvalidArgument(write({{"a", kU8, {-1}}}),
                        "writeSafetensors \"a\": got U8 [-1]; expected whole bytes, and fewer than "
                        "2^63 bits");
  expectInvalidArgument(write({{"a", SafetensorsDType::kF4, {3}}}),
                        "writeSafetensors \"a\": got F4 [3]; expected whole bytes, and fewer than "
                        "2^63 bits");
  expectInvalidArgument(write({}, {{"text", std::string(100'000'000, 'x')}}),
                        "writeSafetensors: got a header of 100000032 bytes; expected at most "
                        "100000000");
  EXPECT_EQ(contentOf(path_), before);
}

TEST_F(WriteSafetensors, LeavesTheOldFileIfTheDiskIsFull) {
  writeOne("old");
  const Error error = test::errorOf([this] {
    const test::SmallDisk disk(1000);
    writeOne(std::string(1'000'000, 'x'));
  });
  EXPECT_EQ(error.code(), ErrorCode::kIoError);
  EXPECT_EQ(std::string(error.what()), "cannot write " + path_ + ": File too large");
  const SafetensorsFile file(path_);
  EXPECT_EQ(elementsOf(file, file.entries()[0]), "old");
  EXPECT_EQ(filesInDirectory(), 1u) << "the incomplete file is removed";
}

TEST_F(WriteSafetensors, LeavesTheOldFileIfElementsThrow) {
  writeOne("old");
  EXPECT_THROW(writeSafetensors(path_, {{"w", kU8, {3}}},
                                [](std::size_t) -> const void* { throw std::bad_alloc(); }),
               std::bad_alloc);
  const SafetensorsFile file(path_);
  EXPECT_EQ(elementsOf(file, file.entries()[0]), "old");
  EXPECT_EQ(filesInDirectory(), 1u);
}

TEST_F(WriteSafetensors, LeavesTheOldFileIfTheProcessIsKilled) {
  writeOne("old");
  const std::string elements(1'000'000, 'x');
  const std::vector<SafetensorsInfo> tensors{{"a", kU8, {1'000'000}}, {"b", kU8, {1'000'000}}};
  for (const std::size_t killedAt : {0, 1}) {
    const pid_t child = ::fork();
    if (child == 0) {
      writeSafetensors(path_, tensors, [&](std::size_t index) {
        if (index == killedAt) {
          ::kill(::getpid(), SIGKILL);
        }
        return elements.data();
      });
      ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status));
    const SafetensorsFile file(path_);
    EXPECT_EQ(elementsOf(file, file.entries()[0]), "old");
  }
}

}  // namespace
}  // namespace steptape
