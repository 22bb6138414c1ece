// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <vector>

#include "steptape/ranks/testing.h"
#include "steptape/train/safetensors.h"

#include "support/content_of.h"
#include "support/expect_error.h"
#include "train/safetensors/safetensors_bytes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using test::contentOf;
using test::elementsOf;
using test::errorOf;
using test::expectError;
using test::pythonsFile;
using test::safetensorsBytes;
using test::writeBytes;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::StartsWith;

class SafetensorsFileTest : public ::testing::Test {
 protected:
  /// Returns why a file with these bytes is refused, without the part that names the file.
  std::string problemOf(const std::string& bytes) {
    writeBytes(path_, bytes);
    const Error error = errorOf([this] { SafetensorsFile file(path_); });
    EXPECT_EQ(error.code(), ErrorCode::kDataLoss);
    const std::string start = "cannot read " + path_ + ": ";
    EXPECT_THAT(error.what(), StartsWith(start));
    return std::string(error.what()).substr(start.size());
  }

  /// The same for a file with one tensor "w".
  std::string problemOfTensor(const std::string& json, const std::string& data = {}) {
    return problemOf(safetensorsBytes("{\"w\":" + json + "}", data));
  }

  /// Returns whether the file can be read; expects a clear error if not.
  bool readsOrRefuses() {
    try {
      const SafetensorsFile file(path_);
      for (const SafetensorsFile::Entry& entry : file.entries()) {
        EXPECT_EQ(elementsOf(file, entry), contentOf(path_).substr(entry.offset, entry.bytes));
      }
      return true;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kDataLoss);
      EXPECT_THAT(error.what(), StartsWith("cannot read " + path_ + ": "));
      EXPECT_THAT(error.what(), HasSubstr("; expected "));
      return false;
    }
  }

  testing::TempDir dir_;
  std::string path_ = dir_.string() + "/model.safetensors";
};

TEST_F(SafetensorsFileTest, ReadsAFileOfPython) {
  writeBytes(path_, pythonsFile());
  const SafetensorsFile file(path_);
  EXPECT_THAT(file.metadata(), ElementsAre(Pair("format", "pt")));
  ASSERT_EQ(file.entries().size(), 4u);
  const SafetensorsFile::Entry& count = file.entries()[0];
  EXPECT_EQ(count.name, "a.count");
  EXPECT_EQ(count.dtype, SafetensorsDType::kI64);
  EXPECT_THAT(count.shape, IsEmpty());
  EXPECT_EQ(elementsOf(file, count), std::string("\7\0\0\0\0\0\0\0", 8));
  const SafetensorsFile::Entry& weight = file.entries()[1];
  EXPECT_EQ(weight.dtype, SafetensorsDType::kF32);
  EXPECT_THAT(weight.shape, ElementsAre(2, 2));
  std::vector<float> elements(4);
  file.read(weight, elements.data());
  EXPECT_THAT(elements, ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(elementsOf(file, file.entries()[2]), std::string("\0>", 2));
  const SafetensorsFile::Entry& empty = file.entries()[3];
  EXPECT_EQ(empty.name, "größe\n\"x\"");
  EXPECT_THAT(empty.shape, ElementsAre(0, 3));
  EXPECT_EQ(empty.bytes, 0u);
}

TEST_F(SafetensorsFileTest, ReadsTensorsInAnyOrderOfTheHeaderAndAtAnyOffset) {
  writeBytes(path_, safetensorsBytes(R"({"b":{"dtype":"I16","shape":[1],"data_offsets":[1,3]},)"
                                     R"("a":{"shape":[1],"data_offsets":[0,1],"dtype":"U8"}} )",
                                     "abc"));
  const SafetensorsFile file(path_);
  ASSERT_EQ(file.entries().size(), 2u);
  EXPECT_EQ(elementsOf(file, file.entries()[0]), "a");
  EXPECT_EQ(elementsOf(file, file.entries()[1]), "bc");
}

TEST_F(SafetensorsFileTest, ReadsAFileWithoutTensors) {
  writeBytes(path_, safetensorsBytes("{}"));
  EXPECT_THAT(SafetensorsFile(path_).entries(), IsEmpty());
  EXPECT_THAT(SafetensorsFile(path_).metadata(), IsEmpty());
}

TEST_F(SafetensorsFileTest, KnowsElementsOfLessThanAByte) {
  writeBytes(path_, safetensorsBytes(R"({"a":{"dtype":"F4","shape":[3,2],"data_offsets":[0,3]},)"
                                     R"("b":{"dtype":"F6_E2M3","shape":[4],"data_offsets":[3,6]}})",
                                     "abcdef"));
  EXPECT_EQ(SafetensorsFile(path_).entries().size(), 2u);
  EXPECT_EQ(problemOfTensor(R"({"dtype":"F4","shape":[3],"data_offsets":[0,2]})", "ab"),
            "tensor \"w\": got F4 [3]; expected whole bytes, and fewer than 2^64 bits");
}

TEST_F(SafetensorsFileTest, RefusesAFileThatIsCutAnywhere) {
  const std::string whole = pythonsFile();
  writeBytes(path_, whole);
  for (std::size_t size = whole.size(); size-- > 0;) {
    std::filesystem::resize_file(path_, size);
    expectError(ErrorCode::kDataLoss, "; expected ", [this] { SafetensorsFile file(path_); });
  }
  EXPECT_EQ(problemOf(""), "got a file of 0 bytes; expected the length of a header in 8 bytes");
  EXPECT_EQ(problemOf(whole.substr(0, 100)),
            "got a header of 280 bytes; expected at most 92 in a file of 100: the file is "
            "truncated, or no safetensors file");
  EXPECT_EQ(problemOf(whole.substr(0, whole.size() - 1)),
            "the file is truncated: got 25 bytes of tensors; expected 26");
  EXPECT_EQ(problemOf(whole + "x"), "got 1 byte after the last tensor; expected none");
}

TEST_F(SafetensorsFileTest, RefusesOrReadsAFileWithAnyDamagedByte) {
  const std::string whole = pythonsFile();
  writeBytes(path_, whole);
  std::fstream inPlace(path_, std::ios::binary | std::ios::in | std::ios::out);
  int refused = 0;
  for (std::size_t place = 0; place < whole.size(); ++place) {
    const auto store = [&](int byte) {
      inPlace.seekp(static_cast<std::streamoff>(place)).put(static_cast<char>(byte)).flush();
    };
    for (const int flipped : {0x01, 0x02, 0x08, 0x20, 0x80, 0xff}) {
      store(whole[place] ^ flipped);
      refused += readsOrRefuses() ? 0 : 1;
    }
    store(whole[place]);
  }
  EXPECT_GT(refused, 1000) << "damage in the header is refused";
  EXPECT_TRUE(readsOrRefuses());
}

TEST_F(SafetensorsFileTest, RefusesSizesThatLie) {
  std::string bytes = pythonsFile();
  std::memset(bytes.data(), 0xff, 8);
  EXPECT_THAT(problemOf(bytes), StartsWith("got a header of 18446744073709551615 bytes; "));
  // The product of the shape, and of the shape and the size of an element, exceeds 64 bits.
  for (const char* const shape : {"[9223372036854775807]", "[4294967296,4294967296]",
                                  "[2305843009213693952,4]", "[9223372036854775807,3,0]"}) {
    EXPECT_THAT(problemOfTensor(std::string(R"({"dtype":"F64","shape":)") + shape +
                                R"(,"data_offsets":[0,0]})"),
                HasSubstr("; expected whole bytes, and fewer than 2^64 bits"));
  }
  EXPECT_EQ(problemOfTensor(R"({"dtype":"U8","shape":[9223372036854775808],"data_offsets":[0,0]})"),
            "tensor \"w\": \"shape\": got 9223372036854775808; expected an array of whole numbers "
            "below 2^63");
  EXPECT_EQ(
      problemOfTensor(R"({"dtype":"U8","shape":[4],"data_offsets":[0,18446744073709551615]})"),
      "tensor \"w\": got data_offsets [0, 18446744073709551615], 18446744073709551615 bytes; "
      "expected 4 bytes for U8 [4]");
  EXPECT_EQ(problemOfTensor(R"({"dtype":"U8","shape":[2],"data_offsets":[18446744073709551614,1]})",
                            "ab"),
            "tensor \"w\": got data_offsets [18446744073709551614, 1]; expected the start and the "
            "end of its bytes");
  EXPECT_EQ(problemOfTensor(R"({"dtype":"F32","shape":[1000000],"data_offsets":[0,4000000]})"),
            "the file is truncated: got 0 bytes of tensors; expected 4000000");
}

TEST_F(SafetensorsFileTest, RefusesGapsAndOverlaps) {
  const auto problemOfTwo = [this](const std::string& first, const std::string& second) {
    return problemOf(safetensorsBytes(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":)" + first +
                                          R"(},"b":{"dtype":"U8","shape":[2],"data_offsets":)" +
                                          second + "}}",
                                      "abcd"));
  };
  const std::string expected = "; expected them to begin at 2, where the previous tensor ends";
  EXPECT_EQ(problemOfTwo("[0,2]", "[3,5]"), "tensor \"b\": got data_offsets [3, 5]" + expected);
  EXPECT_EQ(problemOfTwo("[0,2]", "[1,3]"), "tensor \"b\": got data_offsets [1, 3]" + expected);
  EXPECT_EQ(problemOfTwo("[0,2]", "[0,2]"), "tensor \"b\": got data_offsets [0, 2]" + expected);
}

TEST_F(SafetensorsFileTest, RefusesFieldsThatOccurTwice) {
  const std::string empty = R"({"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  EXPECT_EQ(problemOf(safetensorsBytes(R"({"__metadata__":null,"__metadata__":{}})")),
            "__metadata__: got two entries; expected one");
  for (const std::string field : {R"("dtype":"U8")", R"("shape":[0])", R"("data_offsets":[0,0])"}) {
    EXPECT_THAT(problemOfTensor("{" + field + "," + empty.substr(1)),
                HasSubstr("got two values; expected one"));
  }
}

// As the format's own library: tests/interop/safetensors_headers_test.py compares the two.
TEST_F(SafetensorsFileTest, TakesTheLastOfTwoEntriesOfOneName) {
  writeBytes(path_, safetensorsBytes(R"({"__metadata__":{"a":"1","a":"2"},)"
                                     R"("w":{"dtype":"F64","shape":[7],"data_offsets":[9,8]},)"
                                     R"("w":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})",
                                     "ab"));
  const SafetensorsFile file(path_);
  EXPECT_THAT(file.metadata(), ElementsAre(Pair("a", "2")));
  ASSERT_EQ(file.entries().size(), 1u);
  EXPECT_EQ(elementsOf(file, file.entries()[0]), "ab");
}

TEST_F(SafetensorsFileTest, IgnoresWhatTheFormatDoesNotHave) {
  writeBytes(path_,
             safetensorsBytes(" \n{\"__metadata__\":null,"
                              R"("w":{"foo":1,"bar":[{"dtype":{"x":[]}},null],"dtype":"U8",)"
                              R"("shape":[2],"baz":{"shape":[]},"data_offsets":[0,2],"foo":"y"}})",
                              "ab"));
  const SafetensorsFile file(path_);
  EXPECT_THAT(file.metadata(), IsEmpty());
  ASSERT_EQ(file.entries().size(), 1u);
  EXPECT_EQ(elementsOf(file, file.entries()[0]), "ab");
}

TEST_F(SafetensorsFileTest, NamesEachViolationOfTheFormat) {
  EXPECT_EQ(problemOf(safetensorsBytes("[]")),
            "the header: got no \"{\" at its start; expected a JSON object of tensors");
  EXPECT_EQ(problemOf(safetensorsBytes("{\"a\":")),
            "the header: got invalid JSON at byte 6; expected JSON");
  EXPECT_EQ(problemOf(safetensorsBytes("{\"\xff\":{}}")),
            "the header: got invalid JSON at byte 3; expected JSON");
  EXPECT_EQ(problemOf(safetensorsBytes(R"({"__metadata__":[]})")),
            "__metadata__: got an array; expected an object of strings");
  EXPECT_EQ(problemOf(safetensorsBytes(R"({"__metadata__":{"epoch":3}})")),
            "__metadata__: \"epoch\": got 3; expected a string");
  EXPECT_EQ(problemOfTensor("null"),
            "tensor \"w\": got null; expected an object with dtype, shape and data_offsets");
  EXPECT_EQ(problemOfTensor(R"({"dtype":"F7"})"),
            "tensor \"w\": \"dtype\": got \"F7\"; expected one of BOOL, F4, F6_E2M3, F6_E3M2, U8, "
            "I8, F8_E5M2, F8_E4M3, F8_E8M0, F8_E4M3FNUZ, F8_E5M2FNUZ, I16, U16, F16, BF16, I32, "
            "U32, F32, C64, F64, I64, U64");
  EXPECT_EQ(problemOfTensor(R"({"dtype":32})"),
            "tensor \"w\": \"dtype\": got 32; expected the name of a type");
  EXPECT_EQ(problemOfTensor(R"({"shape":[-1]})"),
            "tensor \"w\": \"shape\": got -1; expected an array of whole numbers below 2^63");
  EXPECT_EQ(problemOfTensor(R"({"shape":[1.5]})"),
            "tensor \"w\": \"shape\": got the number 1.5; expected an array of whole numbers below "
            "2^63");
  EXPECT_EQ(problemOfTensor(R"({"data_offsets":{}})"),
            "tensor \"w\": \"data_offsets\": got an object; expected an array of two whole "
            "numbers");
  EXPECT_EQ(problemOfTensor(R"(["U8",[0],[0,0],1])"),
            "tensor \"w\": \"fourth value\": got 1; expected only dtype, shape and data_offsets");
  EXPECT_EQ(problemOfTensor(R"({"dtype":{}})"),
            "tensor \"w\": \"dtype\": got an empty object; expected the name of a type");
  EXPECT_EQ(problemOf(safetensorsBytes(std::string("{}\0", 3))),
            "the header: got a NUL at byte 3; expected JSON, padded with spaces");
  EXPECT_EQ(problemOf(safetensorsBytes("\xef\xbb\xbf{}")),
            "the header: got no \"{\" at its start; expected a JSON object of tensors");
  EXPECT_EQ(problemOfTensor("{\"foo\":" + std::string(126, '[')),
            "the header: got JSON that nests 128 deep; expected at most 127");
  EXPECT_EQ(problemOfTensor(R"({"dtype":"U8","shape":[1]})"),
            "tensor \"w\": got no data_offsets; expected dtype, shape and data_offsets");
  EXPECT_EQ(problemOfTensor(R"({"dtype":"U8","shape":[1],"data_offsets":[0]})"),
            "tensor \"w\": got data_offsets [0]; expected the start and the end of its bytes");
}

TEST_F(SafetensorsFileTest, ShowsTheStartOfALongName) {
  const std::string problem =
      problemOf(safetensorsBytes("{\"" + std::string(100'000, 'n') + "\":true}"));
  EXPECT_LT(problem.size(), 400u);
}

TEST_F(SafetensorsFileTest, RefusesHeadersBeyondTheFormatsLimit) {
  writeBytes(path_, std::string("\1\xe1\xf5\5\0\0\0\0", 8));  // 100,000,001
  std::filesystem::resize_file(path_, 200'000'000);           // with a hole
  expectError(ErrorCode::kDataLoss,
              "got a header of 100000001 bytes; expected at most 100000000 in a file of 200000000",
              [this] { SafetensorsFile file(path_); });
}

TEST_F(SafetensorsFileTest, SaysThatAFileHasShrunk) {
  writeBytes(path_, pythonsFile());
  const SafetensorsFile file(path_);
  std::filesystem::resize_file(path_, 300);
  std::vector<char> elements(16);
  expectError(ErrorCode::kDataLoss,
              path_ + ": the file has shrunk: got its end at byte 300; expected at least 312 bytes",
              [&] { file.read(file.entries()[1], elements.data()); });
  EXPECT_EQ(elementsOf(file, file.entries()[0])[0], 7) << "what is left can be read";
}

TEST_F(SafetensorsFileTest, NeedsARegularFile) {
  expectError(ErrorCode::kIoError, "cannot read " + path_ + ": No such file or directory",
              [this] { SafetensorsFile file(path_); });
  expectError(ErrorCode::kIoError, ": got a directory; expected a regular file",
              [this] { SafetensorsFile file(dir_.string()); });
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  expectError(ErrorCode::kIoError, ": got a FIFO; expected a regular file",
              [this] { SafetensorsFile file(path_); });
}

}  // namespace
}  // namespace steptape
