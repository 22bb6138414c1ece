// SPDX-License-Identifier: Apache-2.0
//
// Makes single allocations of a logging program fail, one after the other, and several in a
// row: each file stays intact, and missing points are counted. A separate program, because it
// replaces operator new.
#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <new>
#include <numeric>
#include <thread>

#include "steptape/log/file_check.h"
#include "steptape/log/summary_writer.h"
#include "steptape/ranks/testing.h"

#include "events/framing/event_file_name.h"
#include "log/writer/deferred_scalars.h"
#include "log/writer/run_contents.h"
#include "support/allocations.h"
#include "support/sweep.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Counts reports without allocating.
struct Reports {
  std::atomic<int> outOfMemory{0};
  std::atomic<int> all{0};

  void take(const Status& status) {
    ++all;
    if (status.message().find("out of memory") != std::string::npos) {
      ++outOfMemory;
    }
  }
};

/// A program that logs and continues after std::bad_alloc.
class LoggingProgram {
 public:
  explicit LoggingProgram(std::string directory) : directory_(std::move(directory)) {
    options_.onError = [this](const Status& status) { reports_.take(status); };
  }

  WriterOptions& options() { return options_; }
  SummaryWriter& writer() { return *writer_; }

  /// @return false if there is no writer.
  bool open() {
    return attempt([&] { writer_.emplace(directory_, options_); });
  }
  /// Counts `scalars` or `values` as logged if `call` returns.
  template <typename Call>
  void log(std::uint64_t scalars, std::uint64_t values, const Call& call) {
    if (attempt(call)) {
      loggedScalars_ += scalars;
      loggedValues_ += values;
    }
  }
  void close() {
    if (writer_) {
      static_cast<void>(writer_->close());  // fails if memory was short
      stats_ = writer_->stats();
      writer_.reset();
    }
  }
  void destroy() {
    if (writer_) {
      stats_ = writer_->stats();
      writer_.reset();
    }
  }

  void expectAllIsThereOrCounted() {
    std::uint64_t scalars = 0;
    std::uint64_t values = 0;
    std::uint64_t starts = 0;
    std::uint64_t files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_)) {
      const std::string path = entry.path().string();
      if (!detail::events::isEventFileName(entry.path().filename().string())) {
        values += entry.path().filename() == "projector_config.pbtxt" ? 1 : 0;
        EXPECT_NE(entry.path().extension(), ".part");
        continue;
      }
      ++files;
      for (const Finding& finding : checkEventFile(path).findings) {
        // If its resume() failed and was counted, the steps of a run decrease.
        EXPECT_FALSE(finding.isLoss() && finding.rule != "step-goes-back") << finding.message;
      }
      for (const event::Event& event : eventsOf(path)) {
        if (const auto* summary = std::get_if<event::Summary>(&event.what)) {
          for (const event::Value& value : summary->values) {
            const bool isScalar = value.tag.rfind("scalar", 0) == 0;
            scalars += isScalar ? 1 : 0;
            values += isScalar ? 0 : 1;
          }
        } else if (std::holds_alternative<event::SessionLog>(event.what)) {
          ++starts;
        } else if (!std::holds_alternative<event::FileVersion>(event.what)) {
          ++values;
        }
      }
    }
    values += starts - files;  // the others are those of resume()
    EXPECT_EQ(scalars + stats_.droppedScalars, loggedScalars_);
    EXPECT_EQ(values + stats_.droppedValues, loggedValues_);
    EXPECT_EQ(reports_.outOfMemory, stats_.droppedScalars + stats_.droppedValues > 0 ? 1 : 0);
  }

  const Reports& reports() const { return reports_; }
  const WriterStats& stats() const { return stats_; }

 private:
  const std::string directory_;
  Reports reports_;
  WriterOptions options_;
  std::optional<SummaryWriter> writer_;
  WriterStats stats_;
  std::uint64_t loggedScalars_ = 0;
  std::uint64_t loggedValues_ = 0;
};

void logScalars(LoggingProgram& program) {
  for (std::int64_t step = 0; step < 3; ++step) {
    program.log(1, 0, [&] { program.writer().addScalar("scalar/a", 1, step); });
    program.log(1, 0, [&] {
      program.writer().addScalar(program.writer().scalarTag("scalar/handle"), 2, step);
    });
    program.log(1, 0, [&] { program.writer().addScalars("scalar", {{"sub", 3}}, step); });
    program.log(3, 0, [&] {
      const std::vector<ScalarTag> tags = {program.writer().scalarTag("scalar/deferred/1"),
                                           program.writer().scalarTag("scalar/deferred/2"),
                                           program.writer().scalarTag("scalar/deferred/3")};
      detail::log::DeferredScalars::add(program.writer(), step, 3, 0,
                                        [tags](detail::log::DeferredScalars::Sink& sink) {
                                          for (const ScalarTag tag : tags) {
                                            sink.add(tag, 4, {});
                                          }
                                        });
    });
    // Dropped scalars of a batch are counted: a destructor passes them on.
    std::optional<ScalarTag> first;
    std::optional<ScalarTag> second;
    program.log(0, 0, [&] {
      first = program.writer().scalarTag("scalar/batch/1");
      second = program.writer().scalarTag("scalar/batch/2");
    });
    if (second) {
      program.log(2, 0, [&] {
        StepBatch batch = program.writer().atStep(step);
        batch.add(*first, 5);
        batch.add(*second, 6);
      });
    }
  }
}

void logScalarsOfThreads(LoggingProgram& program) {
  std::optional<ScalarTag> tag;
  std::optional<ScalarTag> other;
  program.log(0, 0, [&] {
    tag = program.writer().scalarTag("scalar/thread/1");
    other = program.writer().scalarTag("scalar/thread/2");
  });
  if (!other) {
    return;
  }
  logScalars(program);
  // A thread cannot be started without memory, which is the program's own responsibility.
  try {
    std::thread thread([&] {
      program.log(1, 0, [&] { program.writer().addScalar(*tag, 1, 0); });
      program.log(2, 0, [&] {
        StepBatch batch = program.writer().atStep(1);
        batch.add(*tag, 1);
        batch.add(*other, 2);
      });
    });
    thread.join();
  } catch (const std::bad_alloc&) {
  }
}

void logValues(LoggingProgram& program) {
  SummaryWriter& writer = program.writer();
  std::array<float, 48> numbers;
  std::iota(numbers.begin(), numbers.end(), 0.0F);
  for (std::int64_t step = 0; step < 2; ++step) {
    program.log(0, 1, [&] { writer.addHistogram("h", TensorView(numbers.data(), {48}), step); });
    program.log(0, 1, [&] { writer.addImage("i", TensorView(numbers.data(), {3, 4, 4}), step); });
    program.log(0, 1, [&] { writer.addText("t", "some words", step); });
  }
  program.log(0, 1, [&] {
    CustomScalarsLayout layout;
    layout.categories.emplace_back();
    layout.categories.back().title = "category";
    layout.categories.back().charts.push_back(CustomScalarsChart::multiline("chart", {"scalar"}));
    writer.addCustomScalars(layout);
  });
  program.log(0, 1, [&] {
    event::Graph graph;
    graph.nodes.emplace_back();
    graph.nodes.back().name = "node";
    graph.nodes.back().op = "op";
    writer.addGraph(graph);
  });
  program.log(0, 1, [&] {
    EmbeddingOptions options;
    options.metadata = {{"a"}, {"b"}, {"c"}};
    writer.addEmbedding(TensorView(numbers.data(), {3, 16}), options);
  });
}

void logHparams(LoggingProgram& program) {
  bool isOpen = false;
  program.log(0, 2, [&] {  // the session's start and its end
    Hparams hparams;
    hparams.emplace_back("lr", 0.1);
    program.writer().addHparams(hparams);
    isOpen = true;
  });
  program.log(1, 0, [&] { program.writer().addScalar("scalar/a", 1, 0); });
}

void logWithAResume(LoggingProgram& program) {
  program.log(1, 0, [&] { program.writer().addScalar("scalar/a", 1, 7); });
  program.log(0, 0, [&] { static_cast<void>(program.writer().flush()); });
  program.log(0, 1, [&] { program.writer().resume(5); });
  program.log(1, 0, [&] { program.writer().addScalar("scalar/a", 2, 5); });
}

void logIntoSeveralFiles(LoggingProgram& program) {
  for (std::int64_t step = 0; step < 3; ++step) {
    program.log(1, 0, [&] { program.writer().addScalar("scalar/a", 1, step); });
    program.log(0, 1, [&] { program.writer().addText("t", "some words", step); });
    static_cast<void>(program.writer().flush());  // creates a new file
  }
}

using Body = std::function<void(LoggingProgram&)>;

/// Runs `body` while `count` allocations from one on fail, for one in `oneIn` allocations.
void sweep(const Body& body, std::uint64_t count, std::uint64_t oneIn,
           const std::function<void(WriterOptions&)>& change = {}) {
  test::sweep(oneIn, [&](std::uint64_t n) {
    const testing::TempDir directory;
    LoggingProgram program(directory.string());
    if (change) {
      change(program.options());
    }
    FailingAllocations failing(n, count);
    if (program.open()) {
      body(program);
      if (count == FailingAllocations::kUntilTheEnd) {
        failing.stop();
      }
      program.close();
    }
    const bool hasFailed = failing.stop() > 0;
    program.expectAllIsThereOrCounted();
    return hasFailed;
  });
}

TEST(OutOfMemory, LosesNoScalarThatIsNotCountedWhicheverAllocationFails) {
  sweep(logScalars, 1, 4);
}

TEST(OutOfMemory, LosesNoScalarThatIsNotCountedWhileAFewAllocationsFail) {
  sweep(logScalars, 25, 28);
}

TEST(OutOfMemory, LosesNoScalarThatIsNotCountedWhileAllAllocationsFail) {
  sweep(logScalars, FailingAllocations::kUntilTheEnd, 20);
}

TEST(OutOfMemory, LosesNoScalarOfAnotherThreadThatIsNotCounted) {
  sweep(logScalarsOfThreads, 1, 4);
}

TEST(OutOfMemory, LosesNoValueThatIsNotCountedWhicheverAllocationFails) {
  sweep(logValues, 1, 4);
}

TEST(OutOfMemory, LosesNoValueThatIsNotCountedWhileAllAllocationsFail) {
  sweep(logValues, FailingAllocations::kUntilTheEnd, 44);
}

TEST(OutOfMemory, EndsASessionOfHyperparametersOrCountsIt) {
  sweep(logHparams, 1, 4);
}

TEST(OutOfMemory, ResumesFromACheckpointOrCountsTheFailure) {
  sweep(logWithAResume, 1, 4);
}

TEST(OutOfMemory, DescribesTagsInEachOfSeveralFiles) {
  sweep(logIntoSeveralFiles, 1, 4, [](WriterOptions& options) { options.maxFileBytes = 1; });
}

TEST(OutOfMemory, DropsWhatAClosedWriterCannotKeepInTheBackground) {
  const testing::TempDir directory;
  LoggingProgram program(directory.string());
  program.options().flushTimeout = std::chrono::milliseconds(1);
  ASSERT_TRUE(program.open());
  program.log(1, 0, [&] { program.writer().addScalar("scalar/a", 1, 0); });
  FailingAllocations failing(0, FailingAllocations::kUntilTheEnd);
  program.destroy();  // does not wait for memory
  EXPECT_GT(failing.stop(), 0U);
  // The background thread does the remaining work once there is memory again: a later writer
  // ensures that.
  const testing::TempDir other;
  EXPECT_TRUE(SummaryWriter(other.string()).flush().ok());
  program.expectAllIsThereOrCounted();
}

TEST(OutOfMemory, IsReturnedByFlush) {
  const testing::TempDir directory;
  LoggingProgram program(directory.string());
  ASSERT_TRUE(program.open());
  // The background thread may take the first failure.
  FailingAllocations failing(0, FailingAllocations::kUntilTheEnd);
  const Status status = program.writer().flush();
  failing.stop();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.code(), ErrorCode::kResourceExhausted);
  EXPECT_THAT(status.message(), HasSubstr("out of memory"));
}

TEST(OutOfMemory, IsReportedThoughTheReportThrows) {
  const testing::TempDir directory;
  LoggingProgram program(directory.string());
  program.options().onError = [](const Status&) { throw std::bad_alloc(); };
  ASSERT_TRUE(program.open());
  program.log(1, 0, [&] { program.writer().addScalar("scalar/a", 1, 5); });
  program.log(1, 0, [&] { program.writer().addScalar("scalar/a", 1, 3); });  // a step back
  program.close();
  program.expectAllIsThereOrCounted();
}

TEST(OutOfMemory, LeavesAnExportOfScalarsCompleteOrAbsent) {
  const testing::TempDir directory;
  SummaryWriter writer(directory.string() + "/run");
  for (std::int64_t step = 0; step < 3; ++step) {
    writer.addScalar("a", static_cast<double>(step), step);
    writer.addScalars("main", {{"sub", 1}}, step);
  }
  ASSERT_TRUE(writer.exportScalarsToJson(directory.string() + "/expected").ok());
  const std::uintmax_t expectedBytes = std::filesystem::file_size(directory.string() + "/expected");
  const std::string path = directory.string() + "/scalars";
  test::sweep(4, [&](std::uint64_t n) {
    bool hasSucceeded = false;
    FailingAllocations failing(n);
    attempt([&] { hasSucceeded = writer.exportScalarsToJson(path).ok(); });
    const bool hasFailed = failing.stop() > 0;
    const bool isThere = std::filesystem::exists(path);
    EXPECT_TRUE(isThere || !hasSucceeded);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}),
              isThere ? 3 : 2)
        << "a temporary file is left";
    if (isThere) {
      EXPECT_EQ(std::filesystem::file_size(path), expectedBytes);
      std::filesystem::remove(path);
    }
    EXPECT_TRUE(hasFailed || hasSucceeded);
    return hasFailed;
  });
}

}  // namespace
}  // namespace steptape
