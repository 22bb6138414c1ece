// SPDX-License-Identifier: Apache-2.0
//
// Makes each single call of the file system fail, one after the other, and several in a row; writes
// are cut short before they fail. No incomplete record remains, and every point is in a file
// exactly once.
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "steptape/log/summary_writer.h"
#include "steptape/ranks/testing.h"

#include "events/framing/event_file_name.h"
#include "log/writer/event_file.h"
#include "log/writer/file_system.h"
#include "log/writer/run_contents.h"
#include "support/sweep.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using detail::log::EventFile;
using detail::log::FileSystem;

enum class Call { kCreateDirectories, kList, kCreate, kOpen, kWrite, kTruncate, kRemove, kLinks };
constexpr int kCalls = 8;
constexpr int kForGood = 1 << 30;

/// The real file system, except that some calls fail.
class FailingFileSystem final : public FileSystem {
 public:
  FailingFileSystem() { FileSystem::setForTesting(this); }
  ~FailingFileSystem() override { FileSystem::setForTesting(nullptr); }

  /// Of all calls, or of those of one kind, `first` succeed and the next `count` fail.
  void fail(std::optional<Call> kind, int first, int count, int error) {
    kind_ = kind;
    first_ = first;
    count_ = count;
    error_ = error;
    made_ = 0;
  }
  /// Additionally, all calls of this kind fail.
  void failAlways(Call kind) { always_[static_cast<int>(kind)] = true; }
  void mend() {
    first_ = kForGood;
    for (std::atomic<bool>& always : always_) {
      always = false;
    }
  }
  bool hasFailed() const { return failed_ > 0; }

  int createDirectories(const std::string& path) override {
    const int error = errorOf(Call::kCreateDirectories);
    return error != 0 ? error : FileSystem::createDirectories(path);
  }
  int list(const std::string& path, std::vector<std::string>* names) override {
    const int error = errorOf(Call::kList);
    return error != 0 ? error : FileSystem::list(path, names);
  }
  int createExclusive(const std::string& path, int* descriptor) override {
    const int error = errorOf(Call::kCreate);
    return error != 0 ? error : FileSystem::createExclusive(path, descriptor);
  }
  int openToAppend(const std::string& path, int* descriptor) override {
    const int error = errorOf(Call::kOpen);
    return error != 0 ? error : FileSystem::openToAppend(path, descriptor);
  }
  int write(int descriptor, std::string_view bytes, std::size_t* written) override {
    const int error = errorOf(Call::kWrite);
    if (error == 0) {
      return FileSystem::write(descriptor, bytes, written);
    }
    // Less than a record's header, or several records and a half.
    FileSystem::write(descriptor, bytes.substr(0, bytes.size() > 100 ? bytes.size() - 30 : 7),
                      written);
    return error;
  }
  int truncate(int descriptor, std::uint64_t size) override {
    const int error = errorOf(Call::kTruncate);
    return error != 0 ? error : FileSystem::truncate(descriptor, size);
  }
  int remove(const std::string& path) override {
    const int error = errorOf(Call::kRemove);
    return error != 0 ? error : FileSystem::remove(path);
  }
  int linkCount(int descriptor, std::uint64_t* links) override {
    const int error = errorOf(Call::kLinks);
    return error != 0 ? error : FileSystem::linkCount(descriptor, links);
  }

 private:
  int errorOf(Call call) {
    if (always_[static_cast<int>(call)]) {
      return error_;
    }
    if (kind_ && *kind_ != call) {
      return 0;
    }
    const int number = made_++;
    if (number < first_ || number - first_ >= count_) {
      return 0;
    }
    ++failed_;
    return error_;
  }

  std::optional<Call> kind_;
  std::atomic<int> first_{kForGood};
  std::atomic<int> count_{0};
  std::atomic<int> error_{EIO};
  std::atomic<int> made_{0};
  std::atomic<int> failed_{0};
  std::atomic<bool> always_[kCalls] = {};
};

/// The state of a run's files after the calls.
struct Found {
  std::map<std::pair<std::string, std::int64_t>, int> points;  ///< Occurrences of each point.
  std::vector<std::string> notWhole;
};

Found lookInto(const std::string& directory) {
  Found found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (!detail::events::isEventFileName(entry.path().filename().string())) {
      continue;
    }
    RecordReader records(std::make_unique<FileByteSource>(entry.path().string()));
    std::string_view payload;
    int events = 0;
    while (records.next(&payload) == ReadOutcome::kRecord) {
      event::Event event;
      EXPECT_TRUE(detail::events::decodeEvent(payload, &event).ok());
      ++events;
      if (const auto* summary = std::get_if<event::Summary>(&event.what)) {
        for (const event::Value& value : summary->values) {
          ++found.points[{entry.path().parent_path().string() + " " + value.tag, event.step}];
        }
      }
    }
    if (events < 2 || records.offset() != entry.file_size()) {
      found.notWhole.push_back(entry.path().filename().string() + ": " +
                               std::to_string(records.offset()) + " of " +
                               std::to_string(entry.file_size()) + " bytes");
    }
  }
  return found;
}

/// A run with a sub-run, a close in the middle, and finished files.
class FailingCalls {
 public:
  explicit FailingCalls(std::uint64_t maxFileBytes) {
    options_.maxFileBytes = maxFileBytes;
    options_.flushPeriod = std::chrono::hours(1);  // the test decides when to write
    options_.onError = [](const Status&) {};
  }

  FailingFileSystem& disk() { return disk_; }

  /// @param mends Whether the disk works again for the last part.
  void run(bool mends) {
    try {
      writer_.emplace(directory_.string(), options_);
    } catch (const Error&) {
      disk_.mend();
      return;
    }
    hasBegun_ = true;
    for (std::int64_t step = 0; step < 4; ++step) {
      for (int tag = 0; tag < 10; ++tag) {
        writer_->addScalar("tag" + std::to_string(tag), 1, step);
        ++logged_;
      }
      writer_->addScalars("main", {{"sub", 1}}, step);
      ++logged_;
      // Calls fail here: whether the values survive is checked below.
      static_cast<void>(step == 1 ? writer_->close() : writer_->flush());
    }
    if (mends) {
      disk_.mend();
    }
    static_cast<void>(writer_->close());  // fails if the disk fails
    dropped_ = writer_->stats().droppedScalars;
    writer_.reset();
  }

  /// Returns whether there was a writer.
  bool hasBegun() const { return hasBegun_; }
  std::uint64_t dropped() const { return dropped_; }

  void expectEveryPointOnceOrDropped() {
    const Found found = lookInto(directory_.string());
    for (const auto& [point, times] : found.points) {
      EXPECT_EQ(times, 1) << point.first << " at step " << point.second;
    }
    EXPECT_EQ(found.points.size() + dropped_, logged_);
  }
  void expectWholeFiles() {
    EXPECT_THAT(lookInto(directory_.string()).notWhole, ::testing::IsEmpty());
  }

 private:
  testing::TempDir directory_;
  FailingFileSystem disk_;  // outlives the writer
  WriterOptions options_;
  std::optional<SummaryWriter> writer_;
  bool hasBegun_ = false;
  std::uint64_t logged_ = 0;
  std::uint64_t dropped_ = 0;
};

struct Trouble {
  std::optional<Call> kind;  ///< Unset: any.
  int count = 1;
  int error = EIO;
  bool mends = false;
  std::vector<Call> always;
};

// ThreadSanitizer takes ten times as long, and sees the same threads whichever call fails.
#ifdef __SANITIZE_THREAD__
constexpr std::uint64_t kOneIn = 7;
#else
constexpr std::uint64_t kOneIn = 1;
#endif

/// Makes one call fail, and as many after it as `trouble` specifies, for one in `kOneIn` calls.
void sweep(const Trouble& trouble) {
  for (const std::uint64_t maxFileBytes : {0, 1}) {
    SCOPED_TRACE(std::to_string(maxFileBytes) + " bytes a file");
    test::sweep(kOneIn, [&](std::uint64_t n) {
      FailingCalls program(maxFileBytes);
      program.disk().fail(trouble.kind, static_cast<int>(n), trouble.count, trouble.error);
      for (const Call call : trouble.always) {
        program.disk().failAlways(call);
      }
      program.run(trouble.mends);
      program.expectEveryPointOnceOrDropped();
      // A constructor that fails makes three attempts to leave no file: the write, truncating it,
      // and removing the file once more.
      const bool isBrief = trouble.always.empty() && (trouble.kind || trouble.count < 4);
      if (program.hasBegun() || isBrief) {
        program.expectWholeFiles();
      }
      if (trouble.mends) {
        EXPECT_LE(program.dropped(), 22U) << "more than the close in the middle dropped";
      }
      return program.disk().hasFailed();
    });
  }
}

TEST(FailingCall, OfAnyKindLeavesIntactFiles) {
  for (const int error : {ENOSPC, EIO, EDQUOT, EINTR}) {
    sweep({{}, 1, error, false, {}});
  }
}

TEST(FailingCall, LeavesIntactFilesIfAFewCallsFailInARow) {
  sweep({{}, 2, EIO, true, {}});
  sweep({{}, 3, EIO, true, {}});
  sweep({{}, 4, EIO, true, {}});
}

TEST(FailingCall, LeavesIntactFilesIfAllCallsFailForAWhile) {
  sweep({{}, kForGood, EIO, true, {}});
}

TEST(FailingCall, OfAWriteLeavesIntactFilesOnADiskThatStaysFull) {
  for (const int error : {ENOSPC, EDQUOT}) {
    sweep({Call::kWrite, kForGood, error, false, {}});
  }
}

TEST(FailingCall, OfOneKindForeverLeavesIntactFiles) {
  for (int kind = 0; kind < kCalls; ++kind) {
    sweep({static_cast<Call>(kind), kForGood, EIO, false, {}});
  }
}

TEST(FailingCall, OfAWriteIsContinuedIfTruncatingFails) {
  sweep({Call::kWrite, 1, EIO, true, {Call::kTruncate}});
  sweep({Call::kWrite, 2, EIO, true, {Call::kTruncate, Call::kRemove}});
}

TEST(FailingCall, OfAWriteCountsBytesThatCouldNotBeTruncated) {
  for (int n = 0; n < 20; ++n) {
    FailingCalls program(0);
    program.disk().fail(Call::kWrite, n, kForGood, EIO);
    program.disk().failAlways(Call::kTruncate);
    program.run(/*mends=*/false);
    program.expectEveryPointOnceOrDropped();
    ASSERT_FALSE(::testing::Test::HasFailure()) << "with write number " << n;
  }
}

TEST(FailingCall, OfTheHeadsWriteLeavesNoFile) {
  const testing::TempDir directory;
  FailingFileSystem disk;
  disk.fail(Call::kWrite, 0, 1, ENOSPC);
  EXPECT_THROW(SummaryWriter(directory.string()), Error);
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(FailingCall, OfTheCutIsTriedAgainWhenTheFileIsFinished) {
  const testing::TempDir directory;
  FailingFileSystem disk;
  EventFile file;
  ASSERT_TRUE(file.create(directory.string(), 1, "").ok());
  ASSERT_TRUE(file.append("whole").ok());
  const std::string path = file.path();
  disk.fail({}, 0, 2, EIO);  // the write and the truncation
  EXPECT_FALSE(file.append("a half record").ok());
  EXPECT_TRUE(file.hasPartialAppend());
  file.finish();
  EXPECT_EQ(std::filesystem::file_size(path), 5U);
}

TEST(FailingCall, OfTheCutIsTriedAgainThoughTheDescriptorWasClosed) {
  const testing::TempDir directory;
  FailingFileSystem disk;
  EventFile file;
  ASSERT_TRUE(file.create(directory.string(), 1, "").ok());
  ASSERT_TRUE(file.append("whole").ok());
  const std::string path = file.path();
  disk.fail({}, 0, 2, EIO);
  EXPECT_FALSE(file.append("a half record").ok());
  file.closeDescriptor();
  file.finish();
  EXPECT_EQ(std::filesystem::file_size(path), 5U);
}

}  // namespace
}  // namespace steptape
