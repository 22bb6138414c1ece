// SPDX-License-Identifier: Apache-2.0
//
// Makes allocations of the tool's commands fail, one after the other: the tool reports it and exits
// with 1, or succeeds. A separate program, because it replaces operator new. Each command runs in a
// fork of it, because an allocation that fails in a noexcept function ends the process. Which of
// CLI11's functions are noexcept depends on its release.
#include <array>
#include <cstdint>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "support/allocations.h"
#include "support/sweep.h"
#include "tools/steptape/app.h"
#include "tools/steptape/exit_code.h"
#include "tools/trace_fixture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::AnyOf;

/// Redirects a standard stream to a file for a scope.
class Redirected {
 public:
  Redirected(std::FILE* stream, const std::string& path)
      : stream_(stream), before_(::dup(::fileno(stream))) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    ::dup2(file, ::fileno(stream));
    ::close(file);
  }
  Redirected(const Redirected&) = delete;
  Redirected& operator=(const Redirected&) = delete;
  ~Redirected() {
    std::fflush(stream_);
    ::dup2(before_, ::fileno(stream_));
    ::close(before_);
  }

 private:
  std::FILE* const stream_;
  const int before_;
};

class ToolOutOfMemory : public TraceFixture {
 protected:
  void SetUp() override {
    TraceFixture::SetUp();
    writeBytes("runs/events.out.tfevents.1", smallFile());
    writeBytes("damaged.tf", damagedFile());
    const Trace trace = traceOf({});
    std::filesystem::create_directories(path("traces"));
    writeChrome("traces/" + detail::profile::chromeTraceFileName(trace), trace);
    std::filesystem::current_path(root_);
  }

  static constexpr std::uint64_t kNone = FailingAllocations::kUntilTheEnd;

  /// Runs the tool in a process of its own; allocation number `failing` fails.
  int runTool(const std::vector<const char*>& arguments, std::uint64_t failing = kNone) {
    *run_ = Run();
    const pid_t child = ::fork();
    if (child == 0) {
      const Redirected out(stdout, path("stdout"));
      const Redirected error(stderr, path("stderr"));
      const std::uint64_t before = allocationsOfThread();
      FailingAllocations allocations(failing);
      const int code = tools::runTool(static_cast<int>(arguments.size()), arguments.data());
      run_->hasFailed = allocations.stop() > 0;
      run_->allocations = allocationsOfThread() - before;
      std::fflush(nullptr);
      ::_exit(code);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status) << ", allocation " << failing;
    return WEXITSTATUS(status);
  }

  /// One in four allocations of the command fails once. Of the earlier ones, which build the parser
  /// of the command line and are the same for all commands, one in `oneInOfParser` fails.
  void sweep(std::vector<const char*> arguments, std::uint64_t oneInOfParser = 388,
             bool comparesOutput = true) {
    arguments.insert(arguments.begin(), "steptape");
    const std::uint64_t ofParser = allocationsOf({"steptape", "--version"});
    const int exitCode = runTool(arguments);
    const std::string output = contentOf("stdout");
    const auto oneIn = [&](std::uint64_t n) { return n < ofParser ? oneInOfParser : 4; };
    test::sweep(oneIn, [&](std::uint64_t n) {
      const int code = runTool(arguments, n);
      const std::string error = contentOf("stderr");
      const bool isWhole = !comparesOutput || contentOf("stdout") == output;
      if (code != exitCode || !isWhole) {
        EXPECT_EQ(code, tools::kExitProblem) << error;
        EXPECT_THAT(error, ::testing::EndsWith("steptape: out of memory\n"));
      }
      EXPECT_TRUE(run_->hasFailed || code == exitCode) << code;
      return run_->hasFailed;
    });
  }

 private:
  /// What a run tells of itself. It tells nothing if a failed allocation has ended it.
  struct Run {
    bool hasFailed = true;  // whether an allocation failed
    std::uint64_t allocations = 0;
  };

  std::uint64_t allocationsOf(const std::vector<const char*>& arguments) {
    runTool(arguments);
    return run_->allocations;
  }

  Run* const run_ = static_cast<Run*>(
      ::mmap(nullptr, sizeof(Run), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
};

TEST_F(ToolOutOfMemory, EndsInspectWithALineAndOne) {
  sweep({"inspect", "runs"}, 4);
}
TEST_F(ToolOutOfMemory, EndsInspectOfJsonWithALineAndOne) {
  sweep({"inspect", "runs", "--json"});
}
TEST_F(ToolOutOfMemory, EndsExportWithALineAndOne) {
  sweep({"export", "runs", "--format", "csv", "--output", "scalars.csv"});
  sweep({"export", "runs", "--output", "scalars.json"});
}
TEST_F(ToolOutOfMemory, EndsCheckWithALineAndOne) {
  sweep({"check", "runs"});
  sweep({"check", "damaged.tf"});
}
TEST_F(ToolOutOfMemory, EndsRepairWithALineAndOne) {
  sweep({"repair", "damaged.tf", "--output", "repaired.tf", "--force"});
}
TEST_F(ToolOutOfMemory, EndsTailWithALineAndOne) {
  sweep({"tail", "runs", "--once"});
}
TEST_F(ToolOutOfMemory, EndsPlotWithALineAndOne) {
  sweep({"plot", "runs", "--tag", "loss", "--width", "40"});
  sweep({"plot", "runs", "--tag", "loss", "--svg", "loss.svg"});
}
TEST_F(ToolOutOfMemory, EndsDiffWithALineAndOne) {
  sweep({"diff", "runs", "runs"});
}
TEST_F(ToolOutOfMemory, EndsProfileWithALineAndOne) {
  sweep({"profile", "traces"});
}
TEST_F(ToolOutOfMemory, EndsMergeTracesWithALineAndOne) {
  sweep({"merge-traces", "traces", "--output", "merged.json"});
}
TEST_F(ToolOutOfMemory, EndsHelpWithALineAndOne) {
  // CLI11 joins the choices of an option with a stream, which reports no error if it ends early.
  sweep({"completion", "bash"}, 1996, /*comparesOutput=*/false);
}

TEST_F(ToolOutOfMemory, EndsWithALineAndOneInsideNoexceptFunctions) {
  const auto allocate = []() noexcept {
    const std::array<const char*, 2> arguments{"steptape", "--version"};
    static_cast<void>(tools::runTool(2, arguments.data()));
    const FailingAllocations failing(0);
    ::operator delete(::operator new(1));
  };
  EXPECT_EXIT(allocate(), ::testing::ExitedWithCode(tools::kExitProblem),
              "^steptape: out of memory\n$");
}

}  // namespace
}  // namespace steptape
