// SPDX-License-Identifier: Apache-2.0
//
// Directories and files that do not match their names.
#include <filesystem>
#include <functional>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "steptape/log/log_dir.h"

#include "log/reader/run_contents.h"
#include "log/reader/run_fixture.h"

namespace steptape {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

class StrangeFiles : public RunFixture {
 protected:
  void SetUp() override {
    RunFixture::SetUp();
    writeEvents(kSecond, {simpleScalar("loss", 1, 1)});
  }

  static RunFiles runOf(const RunReader& run) {
    return {run.name(), run.directory(), run.files(), true};
  }

  /// Reads the run, and expects that its good file is read and nothing else is regarded as data.
  RunReader readAll() const {
    RunReader run = read(complete());
    EXPECT_THAT(points(run, "loss"), ElementsAre(Pair(1, 1)));
    EXPECT_THAT(run.tags(), SizeIs(1));
    EXPECT_EQ(contentsOf(run), streamedContents(runOf(run), PurgePolicy::kRestarts));
    return run;
  }
};

TEST_F(StrangeFiles, AreDamageFromTheirFirstByteToTheirLast) {
  const std::string png("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0", 29);
  const std::string elf = std::string(
                              "\x7f"
                              "ELF\x02\x01\x01",
                              7) +
                          std::string(5000, '\0');
  for (const std::string& bytes : {png, elf, std::string("step,loss\n1,0.5\n"),
                                   std::string(100'000, '\0'), std::string(100'000, '\xff')}) {
    writeBytes(kFirst, bytes);
    const RunReader run = readAll();
    EXPECT_THAT(run.damage(), ElementsAre(IsDamage(0, bytes.size(), "length checksum mismatch")));
    EXPECT_EQ(run.damage()[0].outcome, ReadOutcome::kCorrupt);
  }
}

TEST_F(StrangeFiles, OfAFewBytesMayBecomeARecord) {
  writeBytes(kFirst, "text");
  const RunReader run = readAll();
  EXPECT_THAT(run.damage(),
              ElementsAre(IsDamage(0, 4, "record cut short: got 4 bytes; expected 12")));
  EXPECT_EQ(run.damage()[0].outcome, ReadOutcome::kTruncated);
}

TEST_F(StrangeFiles, ThatAreEmptyAreNotDamage) {
  writeBytes(kFirst, "");
  EXPECT_THAT(readAll().damage(), IsEmpty());
}

TEST_F(StrangeFiles, ThatAreDirectoriesAreSeparateRuns) {
  writeEvents(std::string(kFirst) + "/events.out.tfevents.1", {simpleScalar("inner", 1, 1)});
  EXPECT_THAT(readAll().files(), ElementsAre(path(kSecond)));
  EXPECT_THAT(listRuns(root_), SizeIs(2));

  RunReader run({".", root_, {path(kFirst)}, false});
  run.update();
  EXPECT_THAT(run.damage(),
              ElementsAre(IsDamage(0, 0, "got a directory; expected a regular file")));
}

TEST_F(StrangeFiles, ThatArePipesAreNotWaitedFor) {
  ASSERT_EQ(::mkfifo(path(kFirst).c_str(), 0600), 0);
  const RunReader run = readAll();
  ASSERT_THAT(run.damage(), SizeIs(1));
  EXPECT_EQ(run.damage()[0].outcome, ReadOutcome::kIoError);
  EXPECT_EQ(run.damage()[0].status.message(),
            "cannot read " + path(kFirst) + ": got a FIFO; expected a regular file");
}

TEST_F(StrangeFiles, ThatAreLinksAreFollowed) {
  fs::rename(path(kSecond), path("elsewhere"));
  fs::create_symlink(path("elsewhere"), path(kSecond));
  EXPECT_THAT(readAll().damage(), IsEmpty());
}

TEST_F(StrangeFiles, ThatAreLinksToNothingOrToThemselvesAreReported) {
  fs::create_symlink(path("nothing"), path(kFirst));
  EXPECT_THAT(readAll().damage(), ElementsAre(IsDamage(0, 0, "No such file or directory")));
  fs::remove(path(kFirst));
  fs::create_symlink(path(kFirst), path(kFirst));
  EXPECT_THAT(readAll().damage(), ElementsAre(IsDamage(0, 0, "Too many levels of symbolic links")));
}

TEST_F(StrangeFiles, InACircleOfLinksAreListedOnce) {
  fs::create_directories(path("a/b"));
  fs::create_directory_symlink(path("a"), path("a/b/up"));
  fs::create_directory_symlink(root_, path("a/b/top"));
  writeEvents("a/b/events.out.tfevents.1", {});
  fs::create_symlink(path("y"), path("x"));
  fs::create_symlink(path("x"), path("y"));
  const std::vector<RunFiles> runs = listRuns(root_);
  ASSERT_THAT(runs, SizeIs(2));
  EXPECT_EQ(runs[0].name, ".");
  EXPECT_EQ(runs[1].name, "a/b");
}

TEST_F(StrangeFiles, DeepDownAreFound) {
  std::string deep;
  for (int depth = 0; depth < 400; ++depth) {
    deep += "d/";
  }
  writeEvents(deep + kFirst, {});
  EXPECT_THAT(listRuns(root_), SizeIs(2));
}

/// Runs `check` in a process with the permissions of any user, even if the tests run as root.
/// @return the failures.
std::string asNobody(const std::function<std::string()>& check) {
  constexpr uid_t kNobody = 65534;
  int ends[2];
  if (::pipe(ends) != 0) {
    return "no pipe";
  }
  const pid_t child = ::fork();
  if (child == 0) {
    const bool isNobody = ::geteuid() != 0 || (::setgid(kNobody) == 0 && ::setuid(kNobody) == 0);
    const std::string wrong = isNobody ? check() : "this process stays root";
    const bool isWritten =
        ::write(ends[1], wrong.data(), wrong.size()) == static_cast<ssize_t>(wrong.size());
    ::_exit(isWritten ? 0 : 1);
  }
  ::close(ends[1]);
  std::string wrong;
  char bytes[256];
  for (ssize_t got; (got = ::read(ends[0], bytes, sizeof bytes)) > 0;) {
    wrong.append(bytes, static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return status == 0 ? wrong : wrong + " (the child failed)";
}

class ForbiddenFiles : public StrangeFiles {
 protected:
  void SetUp() override {
    StrangeFiles::SetUp();
    fs::permissions(root_, fs::perms::all);
  }
  void TearDown() override {
    for (const char* name : {"secret", kFirst}) {
      std::error_code ignored;
      fs::permissions(path(name), fs::perms::owner_all, ignored);
    }
    StrangeFiles::TearDown();
  }
};

TEST_F(ForbiddenFiles, AreReportedAndTheOthersRead) {
  writeEvents(kFirst, {simpleScalar("secret", 1, 1)});
  fs::permissions(path(kFirst), fs::perms::none);
  EXPECT_EQ(asNobody([&]() -> std::string {
              const RunReader run = read();
              if (points(run, "loss").size() != 1 || run.tags().count("secret") != 0) {
                return "the points are wrong";
              }
              return run.damage().size() == 1 ? run.damage()[0].status.message() : "no damage";
            }),
            "cannot open " + path(kFirst) + ": Permission denied");
}

TEST_F(ForbiddenFiles, InADirectoryThatMayNotBeListedAreLeftOut) {
  writeEvents("secret/events.out.tfevents.1", {});
  fs::permissions(path("secret"), fs::perms::none);
  EXPECT_EQ(asNobody([&] { return std::to_string(listRuns(root_).size()) + " runs"; }), "1 runs");
  EXPECT_EQ(asNobody([&]() -> std::string {
              try {
                listRuns(path("secret"));
                return "no error";
              } catch (const Error& error) {
                return error.what();
              }
            }),
            "cannot read " + path("secret") + ": Permission denied");
}

TEST_F(ForbiddenFiles, NamesADirectoryThatMayNotBeListed) {
  writeEvents("secret/events.out.tfevents.1", {});
  fs::permissions(path("secret"), fs::perms::none);
  EXPECT_EQ(asNobody([&]() -> std::string {
              std::vector<Damage> unreadable;
              listRuns(root_, &unreadable);
              LogDir log(root_);
              log.update();
              return unreadable.size() == 1 && log.unreadable().size() == 1
                         ? log.unreadable()[0].status.message()
                         : "not one";
            }),
            "cannot read " + path("secret") + ": Permission denied; its runs are left out");
}

TEST_F(StrangeFiles, ThatACompressorWroteAreNamedAndNotSearched) {
  writeBytes("events.out.tfevents.2.gz",
             std::string("\x1f\x8b\x08\0", 4) + framed({simpleScalar("hidden", 1, 1)}));
  const RunReader run = read();
  EXPECT_EQ(run.tags().count("hidden"), 0u);
  ASSERT_EQ(run.damage().size(), 1u);
  EXPECT_EQ(
      run.damage()[0].status.message(),
      path("events.out.tfevents.2.gz") +
          ": got a file compressed with gzip; expected an event file. Decompress it first: gzip "
          "--decompress --keep");
  EXPECT_EQ(run.damage()[0].bytes, fs::file_size(path("events.out.tfevents.2.gz")));
}

}  // namespace
}  // namespace steptape
