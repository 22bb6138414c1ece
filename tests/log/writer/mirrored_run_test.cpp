// SPDX-License-Identifier: Apache-2.0
// A run that is kept in a bucket beside the disk.
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "log/writer/writer_fixture.h"
#include "storage/memory_bucket.h"
#include "storage/own_aws_environment.h"
#include "support/content_of.h"
#include "support/expect_error.h"
#include "support/own_black_boxes.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

namespace fs = std::filesystem;

using test::LoopbackAnswer;
using test::LoopbackRequest;
using test::MemoryBucket;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::SizeIs;
using ::testing::StartsWith;

/// A process that trains until a signal ends it.
class TrainingChild {
 public:
  /// @param train Returns when the child is ready to be ended.
  explicit TrainingChild(const std::function<void()>& train) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      constexpr unsigned kBound = 60;  // seconds
      ::alarm(kBound);
      train();
      char ready = 0;
      static_cast<void>(!::write(ends[1], &ready, 1));
      while (true) {
        ::pause();
      }
    }
    ::close(ends[1]);
    char ready = 0;
    EXPECT_EQ(::read(ends[0], &ready, 1), 1) << "the child did not get ready";
    ::close(ends[0]);
  }
  TrainingChild(const TrainingChild&) = delete;
  TrainingChild& operator=(const TrainingChild&) = delete;
  ~TrainingChild() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  void terminate() const { ::kill(pid_, SIGTERM); }
  bool hasEnded() const {
    siginfo_t info{};
    EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT | WNOHANG), 0);
    return info.si_pid != 0;
  }
  /// Returns the signal that has ended the child.
  int endedBy() const {
    siginfo_t info{};
    EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT), 0);
    return info.si_code == CLD_KILLED ? info.si_status : 0;
  }

 private:
  pid_t pid_ = 0;
};

class MirroredRun : public WriterFixture {
 protected:
  MirroredRun() { server_.useIn(&environment_); }

  /// A mirror that looks only when it must, of a writer that flushes only then.
  static WriterOptions mirrored(const std::string& url = "s3://runs/exp") {
    WriterOptions options;
    options.mirror = url;
    options.mirrorPeriod = std::chrono::hours(1);
    options.mirrorTimeout = std::chrono::minutes(10);
    options.flushPeriod = std::chrono::hours(1);
    return options;
  }
  /// Returns the bytes of each file in and below the directory that has no hidden name.
  static std::map<std::string, std::string> filesOf(const std::string& directory,
                                                    const std::string& prefix) {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(directory)) {
      if (entry.is_regular_file() && entry.path().filename().string().front() != '.') {
        files[prefix + entry.path().lexically_relative(directory).string()] =
            test::contentOf(entry.path().string());
      }
    }
    return files;
  }
  void expectWhole() const {
    const auto files = filesOf(dir_.string(), "exp/");
    EXPECT_THAT(files, Contains(Key(HasSubstr("tfevents"))));
    EXPECT_EQ(server_.contents(), files);
  }

  test::OwnBlackBoxes boxes_;
  test::OwnAwsEnvironment environment_;
  MemoryBucket server_;
};

TEST_F(MirroredRun, HasAllItsFilesInTheBucketAfterItsEnd) {
  SummaryWriter writer = open(mirrored());
  writer.addScalar("loss", 0.5, 1);
  writer.addHparams({{"lr", 0.1}}, {{"loss", 0.5}});
  writer.addScalars("losses", {{"train", 0.5}, {"test", 0.75}}, 1);
  std::ofstream(dir_.string() + "/trace.json") << "[]";
  expectOk(writer.close());
  expectWhole();
  const WriterStats stats = writer.stats();
  EXPECT_GE(stats.mirrorBytes, stats.bytesWritten);
  EXPECT_EQ(stats.mirrorLateFiles, 0U);
  EXPECT_EQ(stats.mirrorLateBytes, 0U);
  EXPECT_THAT(reports(), IsEmpty());
}

TEST_F(MirroredRun, IsWholeWithoutACallOfClose) {
  { open(mirrored()).addScalar("loss", 0.5, 1); }
  expectWhole();
}

TEST_F(MirroredRun, IsSentWhileItIsWritten) {
  WriterOptions options = mirrored();
  options.mirrorPeriod = std::chrono::milliseconds(5);
  options.flushPeriod = std::chrono::milliseconds(1);
  SummaryWriter writer = open(std::move(options));
  for (std::int64_t step = 0; step < 20; ++step) {
    writer.addScalar("loss", 0.5, step);
    expectOk(writer.flush());
    server_.server().waitForRequests(static_cast<std::size_t>(step) + 3);
  }
  expectOk(writer.close());
  expectWhole();
}

TEST_F(MirroredRun, GoesOnInTheSamePlace) {
  for (std::int64_t session = 0; session < 3; ++session) {
    SummaryWriter writer = open(mirrored());
    writer.addScalar("loss", 0.5, session);
    expectOk(writer.close());
  }
  expectWhole();
  EXPECT_THAT(server_.contents(), SizeIs(3));
  EXPECT_THAT(reports(), IsEmpty());
}

TEST_F(MirroredRun, TellsWhatTheServerRefusesAndIsWholeOnTheDisk) {
  server_.setRule(
      [](const LoopbackRequest&) { return MemoryBucket::error(403, "SignatureDoesNotMatch"); });
  SummaryWriter writer = open(mirrored());
  writer.addScalar("loss", 0.5, 1);
  const Status closed = writer.close();
  EXPECT_EQ(closed.code(), ErrorCode::kIoError);
  EXPECT_THAT(closed.message(), AllOf(StartsWith("the mirror s3://runs/exp lacks 1 file"),
                                      HasSubstr("got 403 SignatureDoesNotMatch (the reason)")));
  EXPECT_THAT(reports(), Contains(HasSubstr("got 403 SignatureDoesNotMatch")));
  EXPECT_EQ(writer.stats().mirrorLateFiles, 1U);
  EXPECT_THAT(filesOf(dir_.string(), ""), SizeIs(1));
}

TEST_F(MirroredRun, WaitsForADeadServerOnlyAsLongAsItMay) {
  server_.setRule([](const LoopbackRequest&) { return LoopbackAnswer::hang(); });
  WriterOptions options = mirrored();
  options.mirrorTimeout = std::chrono::milliseconds(100);
  SummaryWriter writer = open(std::move(options));
  writer.addScalar("loss", 0.5, 1);
  EXPECT_EQ(writer.close().code(), ErrorCode::kDeadlineExceeded);
}

TEST_F(MirroredRun, MayBeLookedAtWhereItsProblemsAreReported) {
  server_.setRule([](const LoopbackRequest&) { return MemoryBucket::error(403, "AccessDenied"); });
  std::atomic<SummaryWriter*> writer{nullptr};
  std::atomic<std::uint64_t> late{0};
  WriterOptions options = mirrored();
  options.onError = [&](const Status&) {
    while (writer == nullptr) {
      std::this_thread::yield();
    }
    late = writer.load()->stats().mirrorLateFiles;
  };
  SummaryWriter opened(dir_.string(), options);
  writer = &opened;
  opened.addScalar("loss", 0.5, 1);
  EXPECT_FALSE(opened.close().ok());
  EXPECT_EQ(late, 1U);
}

TEST_F(MirroredRun, IsRejectedWithAPlaceThatIsNone) {
  fs::remove(dir_.string());
  test::expectInvalidArgument(
      [&] { SummaryWriter(dir_.string(), mirrored("bucket/exp")); },
      "SummaryWriter: mirror: got \"bucket/exp\"; expected s3://BUCKET or s3://BUCKET/PREFIX");
  WriterOptions options = mirrored();
  options.mirrorPeriod = std::chrono::milliseconds(0);
  test::expectInvalidArgument([&] { SummaryWriter(dir_.string(), options); },
                              "SummaryWriter: mirrorPeriod: got 0 ms; expected more than 0");
  EXPECT_FALSE(fs::exists(dir_.string()));
}

TEST_F(MirroredRun, TakesAnotherPlaceWithAnotherDirectory) {
  SummaryWriter first = open(mirrored());
  WriterOptions options = mirrored("s3://runs/exp/");
  options.occupied = OccupiedRun::kNewDirectory;
  TrainingChild second([&] {
    SummaryWriter writer(dir_.string(), options);
    writer.addScalar("loss", 0.5, 1);
    expectOk(writer.close());
  });
  expectOk(first.close());
  auto files = filesOf(dir_.string() + "_2", "exp_2/");
  EXPECT_THAT(files, SizeIs(1));
  files.merge(filesOf(dir_.string(), "exp/"));
  EXPECT_EQ(server_.contents(), files);
  fs::remove_all(dir_.string() + "_2");
}

TEST_F(MirroredRun, HasItsLastPointsInTheBucketWhenSigtermEndsIt) {
  std::unique_ptr<SummaryWriter> writer;
  const TrainingChild child([&] {
    writer = std::make_unique<SummaryWriter>(dir_.string(), mirrored());
    for (std::int64_t step = 0; step < 1000; ++step) {
      writer->addScalar("loss", 0.5, step);
    }
  });
  child.terminate();
  EXPECT_EQ(child.endedBy(), SIGTERM);
  expectWhole();
  std::uintmax_t bytes = 0;
  for (const auto& [key, content] : server_.contents()) {
    bytes += content.size();
  }
  EXPECT_GT(bytes, 10'000U) << "the points were in memory only";
}

TEST_F(MirroredRun, IsSentByEachOfItsWritersWhenSigtermEndsThem) {
  std::vector<std::unique_ptr<SummaryWriter>> writers;
  const TrainingChild child([&] {
    for (const std::string name : {"train", "test"}) {
      writers.push_back(std::make_unique<SummaryWriter>(dir_.string() + '/' + name,
                                                        mirrored("s3://runs/exp/" + name)));
      writers.back()->addScalar("loss", 0.5, 1);
    }
  });
  child.terminate();
  EXPECT_EQ(child.endedBy(), SIGTERM);
  expectWhole();
  EXPECT_THAT(server_.contents(), SizeIs(2));
}

TEST_F(MirroredRun, IsSentWithWhatEachWriterOfItsDirectoryHasWhenSigtermEndsThem) {
  WriterOptions options = mirrored();
  options.occupied = OccupiedRun::kShare;
  std::vector<std::unique_ptr<SummaryWriter>> writers;
  const TrainingChild child([&] {
    for (const std::string suffix : {".train", ".test"}) {
      options.filenameSuffix = suffix;
      writers.push_back(std::make_unique<SummaryWriter>(dir_.string(), options));
      EXPECT_TRUE(writers.back()->close().ok());
      writers.back()->addScalar("loss", 0.5, 1);
    }
  });
  child.terminate();
  EXPECT_EQ(child.endedBy(), SIGTERM);
  expectWhole();
  EXPECT_THAT(server_.contents(), SizeIs(4)) << "each closed one file, and began another";
}

TEST_F(MirroredRun, EndsAtOnceAtTheSecondSigterm) {
  server_.setRule([](const LoopbackRequest&) { return LoopbackAnswer::hang(); });
  std::unique_ptr<SummaryWriter> writer;
  const TrainingChild child(
      [&] { writer = std::make_unique<SummaryWriter>(dir_.string(), mirrored()); });
  server_.server().waitForRequests(1);
  // Two signals that come before the first is delivered are one.
  while (!child.hasEnded()) {
    child.terminate();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(child.endedBy(), SIGTERM);
}

TEST_F(MirroredRun, EndsInTimeAfterSigtermIfTheServerHangs) {
  server_.setRule([](const LoopbackRequest&) { return LoopbackAnswer::hang(); });
  std::unique_ptr<SummaryWriter> writer;
  WriterOptions options = mirrored();
  options.mirrorTimeout = std::chrono::milliseconds(200);
  const TrainingChild child([&] {
    writer = std::make_unique<SummaryWriter>(dir_.string(), options);
    writer->addScalar("loss", 0.5, 1);
  });
  child.terminate();
  EXPECT_EQ(child.endedBy(), SIGTERM);
  EXPECT_THAT(filesOf(dir_.string(), ""), SizeIs(1)) << "it is whole on the disk";
}

TEST_F(MirroredRun, LeavesSigtermToProcessesForkedFromIt) {
  SummaryWriter writer = open(mirrored());
  const TrainingChild child([] {});
  child.terminate();
  EXPECT_EQ(child.endedBy(), SIGTERM);
}

TEST_F(MirroredRun, IsNotWaitedForAfterItsEnd) {
  const TrainingChild child([&] {
    SummaryWriter writer(dir_.string(), mirrored());
    writer.addScalar("loss", 0.5, 1);
    expectOk(writer.close());
  });
  child.terminate();
  EXPECT_EQ(child.endedBy(), SIGTERM);
  expectWhole();
}

}  // namespace
}  // namespace steptape
