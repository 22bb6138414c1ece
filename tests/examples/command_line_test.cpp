// SPDX-License-Identifier: Apache-2.0
#include "command_line.h"

#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace example {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A program with one option of each type.
class Program : public ::testing::Test {
 protected:
  Program() {
    line_.add("data", data_, "DIR", "where the files are");
    line_.add("epochs", epochs_, "N", "passes", 1);
    line_.add("lr", lr_, "X", "learning rate");
    line_.add("resume", resume_, "go on");
  }

  bool parse(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "program");
    return line_.parse(static_cast<int>(arguments.size()), arguments.data());
  }
  std::string refusal(const std::vector<const char*>& arguments) {
    try {
      parse(arguments);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  }

  std::string data_ = "data/mnist";
  std::int64_t epochs_ = 3;
  double lr_ = 0.5;
  bool resume_ = false;
  std::vector<std::string> rest_;
  CommandLine line_{"Trains.\n"};
};

TEST_F(Program, KeepsItsDefaults) {
  EXPECT_TRUE(parse({}));
  EXPECT_EQ(data_, "data/mnist");
  EXPECT_EQ(epochs_, 3);
  EXPECT_EQ(lr_, 0.5);
  EXPECT_FALSE(resume_);
}

TEST_F(Program, AcceptsValuesAfterASpaceOrAnEqualsSign) {
  EXPECT_TRUE(parse({"--data", "a=b", "--epochs=7", "--lr", "1e-3", "--resume"}));
  EXPECT_EQ(data_, "a=b");
  EXPECT_EQ(epochs_, 7);
  EXPECT_EQ(lr_, 1e-3);
  EXPECT_TRUE(resume_);
}

TEST_F(Program, NamesTheOptionAndWhatIsExpected) {
  EXPECT_EQ(refusal({"--bogus"}), "unknown option --bogus");
  EXPECT_EQ(refusal({"--epochs"}), "--epochs: got no value; expected N");
  EXPECT_EQ(refusal({"--epochs", "0"}), "--epochs: got '0'; expected a whole number of at least 1");
  EXPECT_EQ(refusal({"--epochs", "2x"}),
            "--epochs: got '2x'; expected a whole number of at least 1");
  EXPECT_EQ(refusal({"--epochs="}), "--epochs: got ''; expected a whole number of at least 1");
  EXPECT_EQ(refusal({"--lr", "nan"}), "--lr: got 'nan'; expected a number of at least 0");
  EXPECT_EQ(refusal({"--resume=yes"}), "--resume: got a value; expected none");
  EXPECT_EQ(refusal({"surprise"}), "got argument 'surprise'; expected an option");
}

TEST_F(Program, ShowsItsOptionsAndTheirDefaults) {
  EXPECT_FALSE(parse({"--epochs", "2", "--help"}));
  EXPECT_EQ(line_.help(),
            "Trains.\n"
            "\n"
            "  --data DIR              where the files are  [data/mnist]\n"
            "  --epochs N              passes  [3]\n"
            "  --lr X                  learning rate  [0.5]\n"
            "  --resume                go on\n"
            "  --help                  print this help\n");
}

TEST_F(Program, CollectsTheArgumentsAfterTheOptions) {
  line_.addRest(rest_);
  EXPECT_TRUE(parse({"--epochs", "2", "--", "train", "--epochs", "5"}));
  EXPECT_THAT(rest_, ElementsAre("train", "--epochs", "5"));
  EXPECT_TRUE(parse({"train", "--lr"}));
  EXPECT_THAT(rest_, ElementsAre("train", "--lr"));
  EXPECT_EQ(epochs_, 2);
}

TEST(SplitList, SkipsEmptyParts) {
  EXPECT_THAT(splitList("1,2,4"), ElementsAre("1", "2", "4"));
  EXPECT_THAT(splitList("mpiexec  -n 2", ' '), ElementsAre("mpiexec", "-n", "2"));
  EXPECT_THAT(splitList(""), IsEmpty());
}

}  // namespace
}  // namespace example
