// SPDX-License-Identifier: Apache-2.0
// Runs that are logged through the interface for C, and mirrored into a bucket.

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "steptape/c/steptape.h"
#include "steptape/ranks/testing.h"

#include "metrics/read_back.h"
#include "storage/memory_bucket.h"
#include "storage/own_aws_environment.h"
#include "support/own_black_boxes.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Pair;
using ::testing::StartsWith;

class CMirrorTest : public ::testing::Test {
 protected:
  CMirrorTest() {
    bucket_.useIn(&environment_);
    options_.mirror = "s3://runs/exp";
  }

  std::string run() const { return logs_.string() + "/run"; }

  steptape_status open(steptape_writer** writer) const {
    return steptape_open(run().c_str(), &options_, writer);
  }

  /// Logs one value, and returns how close() ends.
  steptape_status log() const {
    steptape_writer* writer = nullptr;
    EXPECT_EQ(open(&writer), STEPTAPE_OK) << steptape_error_message();
    EXPECT_EQ(steptape_add_scalar(writer, "a", 1, 1), STEPTAPE_OK);
    return steptape_close(writer);
  }

  /// The files that belong into the bucket, by the names that they should have there.
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(run())) {
      const std::string name = entry.path().lexically_relative(run()).string();
      if (entry.is_regular_file() && entry.path().filename().string().front() != '.') {
        std::ifstream file(entry.path(), std::ios::binary);
        found["exp/" + name] = std::string(std::istreambuf_iterator<char>(file), {});
      }
    }
    return found;
  }

  void expectRefusal(const std::string& where) const {
    steptape_writer* writer = nullptr;
    EXPECT_EQ(open(&writer), STEPTAPE_INVALID_ARGUMENT);
    EXPECT_THAT(steptape_error_message(), HasSubstr(where));
    EXPECT_FALSE(std::filesystem::exists(run()));
  }

  test::OwnAwsEnvironment environment_;
  test::MemoryBucket bucket_;
  const test::OwnBlackBoxes boxes_;
  const testing::TempDir logs_;
  steptape_open_options options_ = STEPTAPE_OPEN_OPTIONS_INIT;
};

TEST_F(CMirrorTest, TheBucketHasTheFilesOfAClosedRun) {
  EXPECT_EQ(log(), STEPTAPE_OK) << steptape_error_message();
  EXPECT_EQ(bucket_.contents(), files());
  EXPECT_THAT(bucket_.contents(), ElementsAre(Key(HasSubstr("tfevents"))));
}

TEST_F(CMirrorTest, TheBucketHasTheFilesOfAProgramThatEndsWithoutClosingTheRun) {
  const std::string program = "exec '" STEPTAPE_C_PROGRAM "' '" + run() + "' unclosed ";
  EXPECT_EQ(std::system((program + options_.mirror).c_str()), 0);
  EXPECT_EQ(bucket_.contents(), files());
  EXPECT_THAT(test::readPoints(run()).at("a"), ElementsAre(Pair(1, 1.0F)));
}

TEST_F(CMirrorTest, EachRankHasAPlaceOfItsOwnInTheBucket) {
  setenv("OMPI_COMM_WORLD_SIZE", "3", 1);
  setenv("OMPI_COMM_WORLD_RANK", "2", 1);
  options_.ranks = STEPTAPE_RANKS_EACH;
  EXPECT_EQ(log(), STEPTAPE_OK) << steptape_error_message();
  unsetenv("OMPI_COMM_WORLD_SIZE");
  unsetenv("OMPI_COMM_WORLD_RANK");
  EXPECT_EQ(bucket_.contents(), files());
  EXPECT_THAT(bucket_.contents(), ElementsAre(Key(StartsWith("exp/rank_00002/"))));
}

TEST_F(CMirrorTest, WhatTheBucketRefusesIsReportedAndReturned) {
  bucket_.setRule([](const auto&) { return test::MemoryBucket::error(403, "AccessDenied"); });
  std::vector<std::string> problems;
  options_.on_error_context = &problems;
  options_.on_error = [](void* context, steptape_status status, const char* message) {
    EXPECT_EQ(status, STEPTAPE_IO_ERROR);
    static_cast<std::vector<std::string>*>(context)->emplace_back(message);
  };
  EXPECT_EQ(log(), STEPTAPE_IO_ERROR);
  EXPECT_THAT(steptape_error_message(), AllOf(StartsWith("the mirror s3://runs/exp lacks 1 file"),
                                              HasSubstr("AccessDenied")));
  EXPECT_THAT(problems, ElementsAre(HasSubstr("403 AccessDenied")));
  EXPECT_THAT(test::readPoints(run()).at("a"), ElementsAre(Pair(1, 1.0F)));
}

TEST_F(CMirrorTest, ABucketThatIsBusyIsWaitedForAsLongAsTheCallerSays) {
  bucket_.setRule([](const auto&) { return test::MemoryBucket::error(503, "SlowDown"); });
  options_.mirror_timeout_milliseconds = 20;
  EXPECT_EQ(log(), STEPTAPE_DEADLINE_EXCEEDED);
  EXPECT_THAT(steptape_error_message(),
              AllOf(StartsWith("the mirror s3://runs/exp lacks "), EndsWith("20 ms")));
  EXPECT_THAT(test::readPoints(run()).at("a"), ElementsAre(Pair(1, 1.0F)));
}

TEST_F(CMirrorTest, AStructOfAnOlderHeaderHasNone) {
  options_.size = offsetof(steptape_open_options, mirror);
  options_.mirror = "no URL";
  options_.mirror_milliseconds = -1;
  EXPECT_EQ(log(), STEPTAPE_OK) << steptape_error_message();
  EXPECT_THAT(test::readPoints(run()).at("a"), ElementsAre(Pair(1, 1.0F)));
}

TEST_F(CMirrorTest, MustMakeSense) {
  options_.mirror = "runs/exp";
  expectRefusal("mirror: got \"runs/exp\"; expected s3://BUCKET");
  options_.mirror = "s3://runs/exp";
  options_.mirror_milliseconds = -1;
  expectRefusal("steptape_open: options->mirror_milliseconds: got -1; expected 0 or more");
  options_.mirror_milliseconds = 0;
  options_.mirror_timeout_milliseconds = -1;
  expectRefusal("steptape_open: options->mirror_timeout_milliseconds: got -1; expected 0 or more");
}

TEST_F(CMirrorTest, MayHaveTheLongestTimes) {
  options_.mirror_milliseconds = INT64_MAX;
  options_.mirror_timeout_milliseconds = INT64_MAX;
  EXPECT_EQ(log(), STEPTAPE_OK) << steptape_error_message();
  EXPECT_EQ(bucket_.contents(), files());
}

}  // namespace
}  // namespace steptape
