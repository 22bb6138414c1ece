// SPDX-License-Identifier: Apache-2.0
// Wrong calls of the interface for C: a status, and a text that says what was got and expected.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "steptape/c/steptape.h"
#include "steptape/ranks/testing.h"

#include "metrics/read_back.h"
#include "support/own_black_boxes.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::StartsWith;

class CTroubleTest : public ::testing::Test {
 protected:
  CTroubleTest() { EXPECT_EQ(steptape_open(run().c_str(), nullptr, &writer_), STEPTAPE_OK); }
  ~CTroubleTest() override { steptape_close(writer_); }

  std::string run() const { return logs_.string() + "/run"; }

  /// Expects a refusal whose message begins with `begin` and has `part` in it.
  static void expectRefusal(steptape_status status, const std::string& begin,
                            const std::string& part) {
    EXPECT_EQ(status, STEPTAPE_INVALID_ARGUMENT) << steptape_status_name(status);
    EXPECT_THAT(steptape_error_message(), StartsWith(begin));
    EXPECT_THAT(steptape_error_message(), HasSubstr(part));
  }

  const test::OwnBlackBoxes boxes_;
  const testing::TempDir logs_;
  steptape_writer* writer_ = nullptr;
};

TEST_F(CTroubleTest, AWriterThatIsNullOrClosedIsNamed) {
  expectRefusal(steptape_add_scalar(nullptr, "a", 1, 1), "steptape_add_scalar: ", "is NULL");
  expectRefusal(steptape_flush(nullptr), "steptape_flush: ", "is NULL");
  EXPECT_EQ(steptape_close(nullptr), STEPTAPE_OK);
  steptape_writer* closed = nullptr;
  ASSERT_EQ(steptape_open((logs_.string() + "/other").c_str(), nullptr, &closed), STEPTAPE_OK);
  EXPECT_EQ(steptape_close(closed), STEPTAPE_OK);
  steptape_writer* another = nullptr;
  ASSERT_EQ(steptape_open((logs_.string() + "/third").c_str(), nullptr, &another), STEPTAPE_OK);
  expectRefusal(steptape_add(closed, 1, 1, 1), "steptape_add: ", "is closed");
  expectRefusal(steptape_add_text(closed, "a", "b", 1, nullptr), "steptape_add_text", "is closed");
  expectRefusal(steptape_close(closed), "steptape_close: ", "is closed");
  EXPECT_STREQ(steptape_run(closed), "");
  EXPECT_EQ(steptape_close(another), STEPTAPE_OK);
}

TEST_F(CTroubleTest, TextsMustBeThereAndEnd) {
  expectRefusal(steptape_add_scalar(writer_, nullptr, 1, 1), "steptape_add_scalar: tag: ", "NULL");
  expectRefusal(steptape_add_scalar_n(writer_, nullptr, 3, 1, 1), "steptape_add_scalar_n: tag",
                "NULL");
  EXPECT_EQ(steptape_add_scalar(writer_, "", 1, 1), STEPTAPE_INVALID_ARGUMENT);
  const std::vector<char> endless(STEPTAPE_MAX_TEXT + 1, 'x');
  expectRefusal(steptape_add_text(writer_, "a", endless.data(), 1, nullptr),
                "steptape_add_text: markdown: ", "a text without an end");
  expectRefusal(steptape_open(run().c_str(), nullptr, nullptr), "steptape_open: writer: ", "NULL");
}

TEST_F(CTroubleTest, OptionsOfAnOlderHeaderHaveTheirFieldsAndDefaults) {
  // The header of a time when there were no descriptions.
  steptape_value_options older = STEPTAPE_VALUE_OPTIONS_INIT;
  older.size = offsetof(steptape_value_options, description);
  older.wall_time = 17.5;
  older.description = reinterpret_cast<const char*>(8);  // must not be looked at
  EXPECT_EQ(steptape_add_scalar_with(writer_, "a", 1, 1, &older), STEPTAPE_OK)
      << steptape_error_message();
  EXPECT_EQ(steptape_flush(writer_), STEPTAPE_OK);
  const RunReader reader = test::readRun(listRuns(run()).at(0));
  EXPECT_THAT(reader.tags().at("a").scalars.wallTimes, ElementsAre(17.5));
}

TEST_F(CTroubleTest, OptionsWithoutASizeOrWithUnknownFieldsAreRefused) {
  steptape_value_options options = {};
  expectRefusal(steptape_add_scalar_with(writer_, "a", 1, 1, &options),
                "steptape_add_scalar_with: options: ", "size 0");
  struct {
    steptape_value_options known;
    std::int64_t added;
  } newer = {STEPTAPE_VALUE_OPTIONS_INIT, 0};
  newer.known.size = sizeof newer;
  EXPECT_EQ(steptape_add_scalar_with(writer_, "a", 1, 1, &newer.known), STEPTAPE_OK);
  newer.added = 1;
  expectRefusal(steptape_add_scalar_with(writer_, "a", 1, 1, &newer.known),
                "steptape_add_scalar_with: options: ", "a field of a newer header");
}

TEST_F(CTroubleTest, EnumeratorsOutOfRangeAreRefused) {
  steptape_open_options options = STEPTAPE_OPEN_OPTIONS_INIT;
  const int wrong = 9;
  std::memcpy(&options.overflow, &wrong, sizeof wrong);
  steptape_writer* writer = writer_;
  expectRefusal(steptape_open(run().c_str(), &options, &writer), "steptape_open: options->overflow",
                "expected 0 to 2");
  EXPECT_EQ(writer, nullptr);
}

TEST_F(CTroubleTest, ArraysMustMakeSense) {
  const float number = 1;
  const std::int64_t shape[] = {2, -1};
  steptape_array array = {&number, STEPTAPE_FLOAT32, 2, shape, nullptr};
  const auto add = [&](const steptape_array* values) {
    return steptape_add_histogram(writer_, "h", values, 1, nullptr);
  };
  expectRefusal(add(nullptr), "steptape_add_histogram: values: ", "NULL");
  EXPECT_EQ(add(&array), STEPTAPE_INVALID_ARGUMENT) << "a negative size";
  array.rank = 40;
  expectRefusal(add(&array), "steptape_add_histogram: values: ", "rank 40");
  array.rank = 1;
  array.shape = nullptr;
  expectRefusal(add(&array), "steptape_add_histogram: values: ", "no shape");
  array.shape = shape;
  array.data = nullptr;
  EXPECT_EQ(add(&array), STEPTAPE_INVALID_ARGUMENT) << "no data";
  const int type = 77;
  std::memcpy(&array.dtype, &type, sizeof type);
  expectRefusal(add(&array), "steptape_add_histogram: values: ", "dtype 77");
}

TEST_F(CTroubleTest, AnEmptyOrGappedArrayIsFine) {
  const std::int64_t none[] = {0};
  const steptape_array empty = {nullptr, STEPTAPE_FLOAT64, 1, none, nullptr};
  EXPECT_EQ(steptape_add_histogram(writer_, "h", &empty, 1, nullptr), STEPTAPE_OK)
      << steptape_error_message();
  const double numbers[] = {1, 2, 3, 4, 5, 6};
  const std::int64_t shape[] = {3};
  const std::int64_t strides[] = {2};
  const steptape_array odd = {numbers, STEPTAPE_FLOAT64, 1, shape, strides};
  EXPECT_EQ(steptape_add_histogram(writer_, "h", &odd, 2, nullptr), STEPTAPE_OK);
}

TEST_F(CTroubleTest, ARunThatAnotherProcessWritesIsRefused) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    steptape_writer* writer = nullptr;
    const char isRefused =
        steptape_open(run().c_str(), nullptr, &writer) == STEPTAPE_FAILED_PRECONDITION &&
                std::strstr(steptape_error_message(), "expected") != nullptr
            ? 1
            : 0;
    _exit(write(ready[1], &isRefused, 1) == 1 ? 0 : 1);
  }
  char isRefused = 0;
  EXPECT_EQ(read(ready[0], &isRefused, 1), 1);
  EXPECT_EQ(isRefused, 1);
  waitpid(child, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
}

TEST_F(CTroubleTest, ADirectoryThatCannotBeMadeIsAnIoError) {
  std::ofstream(logs_.string() + "/file") << "no directory";
  steptape_writer* writer = writer_;
  EXPECT_EQ(steptape_open((logs_.string() + "/file/run").c_str(), nullptr, &writer),
            STEPTAPE_IO_ERROR);
  EXPECT_THAT(steptape_error_message(), HasSubstr("/file/run"));
  EXPECT_EQ(writer, nullptr);
}

TEST_F(CTroubleTest, MessagesBelongToTheirThread) {
  EXPECT_EQ(steptape_flush(nullptr), STEPTAPE_INVALID_ARGUMENT);
  std::thread([] { EXPECT_STREQ(steptape_error_message(), ""); }).join();
  EXPECT_THAT(steptape_error_message(), StartsWith("steptape_flush"));
}

TEST_F(CTroubleTest, AnErrorHandlerGetsWhatTensorBoardWillNotShow) {
  struct Heard {
    std::vector<std::string> texts;
  } heard;
  steptape_open_options options = STEPTAPE_OPEN_OPTIONS_INIT;
  options.on_error_context = &heard;
  options.on_error = [](void* context, steptape_status status, const char* message) {
    static_cast<Heard*>(context)->texts.push_back(std::string(steptape_status_name(status)) + ": " +
                                                  message);
  };
  steptape_writer* writer = nullptr;
  ASSERT_EQ(steptape_open((logs_.string() + "/heard").c_str(), &options, &writer), STEPTAPE_OK);
  EXPECT_EQ(steptape_add_scalar(writer, "a", 1, 1), STEPTAPE_OK);
  EXPECT_EQ(steptape_add_text(writer, "a", "of another kind", 2, nullptr), STEPTAPE_OK);
  EXPECT_EQ(steptape_close(writer), STEPTAPE_OK);
  EXPECT_THAT(heard.texts, ElementsAre(StartsWith("InvalidArgument: ")));
}

TEST_F(CTroubleTest, ZonesMustBeOpenedBeforeTheyEnd) {
  EXPECT_EQ(steptape_zone_end(), STEPTAPE_FAILED_PRECONDITION);
  expectRefusal(steptape_zone_begin(nullptr), "steptape_zone_begin: name: ", "an empty text");
  EXPECT_EQ(steptape_zone_end(), STEPTAPE_OK);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(steptape_zone_begin("deep"), STEPTAPE_OK);
  }
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(steptape_zone_end(), STEPTAPE_OK);
  }
  EXPECT_EQ(steptape_zone_end(), STEPTAPE_FAILED_PRECONDITION);
}

TEST_F(CTroubleTest, CallsInAChildOfTheProcessDoNothing) {
  EXPECT_EQ(steptape_add_scalar(writer_, "a", 1, 1), STEPTAPE_OK);
  const pid_t child = fork();
  if (child == 0) {
    _exit(steptape_add_scalar(writer_, "a", 2, 2) == STEPTAPE_OK ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(steptape_flush(writer_), STEPTAPE_OK);
  EXPECT_THAT(test::readPoints(run()).at("a"), ElementsAre(Pair(1, 1.0F)));
}

}  // namespace
}  // namespace steptape
