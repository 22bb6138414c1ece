// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "support/small_disk.h"
#include "tools/tool_fixture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Rewrite : public ToolFixture {
 protected:
  void writeRun() const {
    writeEvents("run/events.out.tfevents.1",
                {version(), simpleScalar("Loss/train", 3, 0), simpleScalar("Loss/train", 2, 10),
                 simpleScalar("Loss/val", 4, 10), simpleScalar("debug/x", 1, 10)});
  }
  Outcome rewrite(const std::string& arguments) const { return steptape("rewrite " + arguments); }
  std::set<std::string> entriesOf(const std::string& directory) const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path(directory))) {
      names.insert(entry.path().filename());
    }
    return names;
  }
  std::string csv(const std::string& run) const {
    return steptape("export " + run + " --format csv --layout long").out;
  }
};

TEST_F(Rewrite, RenamesAndDropsTagsAndShiftsSteps) {
  writeRun();
  const Outcome outcome =
      rewrite("run --output new --rename '^Loss/(.*)' '$1/loss' --drop ^debug --shift-steps 100");
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.out,
            "new: 3 values written, 1 left out\n"
            "  Loss/train is now train/loss\n"
            "  Loss/val is now val/loss\n"
            "  left out: debug/x\n");
  EXPECT_EQ(csv("new"),
            "run,tag,step,wall_time,value\n"
            "new,train/loss,100,1000.0,3.0\n"
            "new,train/loss,110,1010.0,2.0\n"
            "new,val/loss,110,1010.0,4.0\n");
  EXPECT_THAT(csv("run"), HasSubstr("run,Loss/train,0,1000.0,3.0\n"));
}

TEST_F(Rewrite, TakesARangeOfSteps) {
  writeRun();
  EXPECT_EQ(rewrite("run --output new --to 9").exitCode, 0);
  EXPECT_EQ(csv("new"), "run,tag,step,wall_time,value\nnew,Loss/train,0,1000.0,3.0\n");
}

TEST_F(Rewrite, LeavesOutWhatARestartOverwrote) {
  writeEvents("run/events.out.tfevents.1",
              {version(), simpleScalar("loss", 1, 0), simpleScalar("loss", 1, 1),
               simpleScalar("loss", 1, 2)});
  writeEvents("run/events.out.tfevents.2", {version(), start(1), simpleScalar("loss", 2, 1)});
  EXPECT_EQ(rewrite("run --output new").exitCode, 0);
  EXPECT_EQ(csv("new"),
            "run,tag,step,wall_time,value\nnew,loss,0,1000.0,1.0\nnew,loss,1,1001.0,2.0\n");
}

TEST_F(Rewrite, WritesSeveralRunsByTheirNames) {
  writeRun();
  std::filesystem::create_directories(path("runs/b"));
  std::filesystem::copy(path("run"), path("runs/a"));
  std::filesystem::copy(path("run"), path("runs/b/c"));
  EXPECT_EQ(rewrite("runs --output new").exitCode, 0);
  EXPECT_THAT(csv("new"), AllOf(HasSubstr("new/a,Loss/val"), HasSubstr("new/b/c,Loss/val")));
}

TEST_F(Rewrite, WritesRunsOfSeveralPathsByTheirNames) {
  writeRun();
  std::filesystem::create_directories(path("runs/b"));
  std::filesystem::copy(path("run"), path("runs/a"));
  std::filesystem::copy(path("run"), path("runs/b/c"));
  for (const std::string paths : {"runs/a runs/b", "'runs/*'"}) {
    EXPECT_THAT(rewrite(paths + " --output new"),
                Prints("new/a: 4 values written, 0 left out\n"
                       "new/b/c: 4 values written, 0 left out\n"));
    EXPECT_EQ(entriesOf("new"), (std::set<std::string>{"a", "b"}));
    std::filesystem::remove_all(path("new"));
  }
  EXPECT_THAT(rewrite("runs/a runs/b --run c --output one"),
              Prints("one: 4 values written, 0 left out\n"));
}

TEST_F(Rewrite, RefusesRunsOfOneName) {
  writeRun();
  std::filesystem::create_directories(path("old"));
  std::filesystem::copy(path("run"), path("old/run"));
  EXPECT_THAT(rewrite("run old/run --output new"),
              Exits(2, HasSubstr("PATH: got old/run and run, which both become new/run; expected "
                                 "runs of different names")));
  EXPECT_FALSE(std::filesystem::exists(path("new")));
}

TEST_F(Rewrite, LeavesNothingOfRunsOfWhichOneFails) {
  writeRun();
  std::filesystem::create_directories(path("runs"));
  std::filesystem::copy(path("run"), path("runs/a"));
  writeEvents("runs/b/events.out.tfevents.1",
              {version(), simpleScalar("loss", 1, 0), simpleScalar("loss", 1, 1000)});
  const std::string shift = " --shift-steps 9223372036854775000 --output ";
  EXPECT_EQ(rewrite("runs/a --output fine --shift-steps 9223372036854775000").exitCode, 0);
  EXPECT_THAT(rewrite("runs" + shift + "deep/new"), Exits(1, HasSubstr("got step 1000 shifted")));
  EXPECT_FALSE(std::filesystem::exists(path("deep")));
  EXPECT_THAT(rewrite("runs/b" + shift + "new"), Exits(1, HasSubstr("got step 1000 shifted")));
  EXPECT_FALSE(std::filesystem::exists(path("new")));
  std::filesystem::create_directories(path("kept"));
  writeBytes("kept/notes.txt", "mine");
  EXPECT_EQ(rewrite("runs/b" + shift + "kept").exitCode, 1);
  EXPECT_EQ(entriesOf("kept"), std::set<std::string>{"notes.txt"});
  EXPECT_EQ(rewrite("runs/b --output kept").exitCode, 0) << "and can be tried again";
}

TEST_F(Rewrite, LeavesNothingOnAFullDisk) {
  std::vector<event::Event> events{version()};
  for (int step = 0; step < 1000; ++step) {
    events.push_back(simpleScalar("loss", 1, step));
  }
  writeEvents("run/events.out.tfevents.1", events);
  const test::SmallDisk disk(1000);
  EXPECT_THAT(rewrite("run --output new"), Exits(1, HasSubstr("File too large")));
  EXPECT_FALSE(std::filesystem::exists(path("new")));
}

TEST_F(Rewrite, WritesNothingBesideARun) {
  writeRun();
  std::filesystem::create_directories(path("runs"));
  std::filesystem::copy(path("run"), path("runs/a"));
  std::filesystem::copy(path("run"), path("runs/b"));
  std::filesystem::create_directories(path("new"));
  std::filesystem::copy(path("run"), path("new/b"));
  EXPECT_THAT(rewrite("runs --output new"), Exits(1, HasSubstr("new/b holds 1 event file")));
  EXPECT_EQ(entriesOf("new"), std::set<std::string>{"b"});
}

TEST_F(Rewrite, SaysWhichPatternsMatchNoTag) {
  writeRun();
  for (const std::string option : {"--tag", "--drop", "--rename"}) {
    EXPECT_THAT(
        rewrite("run --output new " + option + " nothing" + (option == "--rename" ? " x" : "")),
        Exits(1, HasSubstr(option + ": got \"nothing\"; expected a match in a tag; "
                                    "'steptape inspect' lists all tags")));
    EXPECT_FALSE(std::filesystem::exists(path("new")));
  }
  const Outcome outcome =
      rewrite("run --output new --drop debug --drop nothing --rename Loss/ loss/");
  EXPECT_THAT(outcome, Exits(0, "note: --drop: got \"nothing\"; expected a match in a tag\n"));
}

TEST_F(Rewrite, RefusesToRenameATagThatIsTooLongForItsSearch) {
  writeEvents("run/events.out.tfevents.1",
              {version(), simpleScalar(std::string(300'000, 'x'), 1, 0), simpleScalar("y", 1, 0)});
  EXPECT_THAT(rewrite("run --output new --rename '(.)*y' z"),
              Exits(1, HasSubstr("--rename: got a tag of 300000 bytes, xxxx")));
  EXPECT_FALSE(std::filesystem::exists(path("new")));
  EXPECT_EQ(rewrite("run --output new --rename y z --drop ^xxx").exitCode, 0);
  EXPECT_EQ(rewrite("run --output all").exitCode, 0);
}

TEST_F(Rewrite, KeepsAWallTimeOfZero) {
  event::Event event = simpleScalar("loss", 1, 5);
  event.wallTime = 0;
  writeEvents("run/events.out.tfevents.1", {version(), event});
  EXPECT_EQ(rewrite("run --output new").exitCode, 0);
  EXPECT_EQ(csv("new"), "run,tag,step,wall_time,value\nnew,loss,5,0.0,1.0\n");
}

TEST_F(Rewrite, RefusesTwoTagsWithOneName) {
  writeRun();
  EXPECT_THAT(rewrite("run --output new --rename 'Loss/.*' loss"),
              Exits(1, HasSubstr("rewrite: got the name \"loss\" for \"Loss/train\" and for "
                                 "\"Loss/val\"; expected another name for each tag")));
  EXPECT_FALSE(std::filesystem::exists(path("new")));
}

TEST_F(Rewrite, RefusesADirectoryWithEventFilesAndStepsBeyond64Bits) {
  writeRun();
  EXPECT_THAT(rewrite("run --output run"), Exits(1, HasSubstr("run holds 1 event file")));
  EXPECT_THAT(rewrite("run --output new --shift-steps 9223372036854775807"),
              Exits(1, HasSubstr("got step 10 shifted by 9223372036854775807")));
  EXPECT_THAT(rewrite("run --output new --rename '(' x"), Exits(2, HasSubstr("--rename: got")));
  EXPECT_THAT(rewrite("run --output new --drop '('"), Exits(2, HasSubstr("--drop: got")));
}

TEST_F(Rewrite, KeepsEveryKindOfValueOfEveryWriter) {
  for (const std::string writer : {"torch", "tensorboardx"}) {
    const std::string golden = STEPTAPE_SOURCE_DIR "/tests/golden/" + writer + ".tfevents";
    std::filesystem::create_directories(path(writer));
    std::filesystem::copy_file(golden, path(writer + "/events.out.tfevents.1"));
    EXPECT_EQ(rewrite(writer + " --output new_" + writer).exitCode, 0);
    const Outcome difference = steptape("diff " + writer + " new_" + writer);
    EXPECT_EQ(difference.exitCode, 0) << writer << ": " << difference.out << difference.error;
    EXPECT_THAT(steptape("check new_" + writer).out, Not(HasSubstr("no-plugin")));
  }
}

}  // namespace
}  // namespace steptape
