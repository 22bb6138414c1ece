// SPDX-License-Identifier: Apache-2.0
#include "process/machine/machine_monitor.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "steptape/ranks/testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::detail::process {
namespace {

using ::testing::HasSubstr;

/// Waits until `condition` is true; fails the test after a minute.
template <typename Condition>
void waitUntil(const Condition& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!condition()) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

class Monitor : public ::testing::Test {
 protected:
  MachineMonitorOptions options() {
    MachineMonitorOptions options;
    options.period = std::chrono::milliseconds(1);
    options.sampler.nvmlLibrary = "";
    options.sampler.onError = [this](const Status& status) {
      const std::lock_guard<std::mutex> lock(mutex_);
      problems_.push_back(status.message());
    };
    options.textFile = file_;
    options.labels = {"run", "host", 0};
    return options;
  }

  std::vector<std::string> problems() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return problems_;
  }

  std::string text() const {
    std::ostringstream text;
    text << std::ifstream(file_).rdbuf();
    return text.str();
  }

  testing::TempDir directory_;
  std::string file_ = directory_.string() + "/node_exporter/metrics.prom";

 private:
  std::mutex mutex_;
  std::vector<std::string> problems_;
};

TEST_F(Monitor, SamplesInTheBackground) {
  MachineMonitor monitor(options());
  for (int i = 0; i < 3; ++i) {
    std::optional<MachineSample> sample;
    waitUntil([&] { return (sample = monitor.takeSample()).has_value(); });
    EXPECT_GT(sample->residentBytes, 0);
  }
}

TEST_F(Monitor, KeepsTheTextFileUpToDateAndRemovesItAtTheEnd) {
  {
    MachineMonitor monitor(options());
    monitor.noteStep(41);
    waitUntil([&] { return text().find("steptape_last_step{") != std::string::npos; });
    monitor.noteStep(42);
    waitUntil([&] {
      const std::string now = text();
      EXPECT_THAT(now, ::testing::EndsWith("# EOF\n"));  // It is always whole.
      return now.find(R"(steptape_last_step{run="run",host="host",rank="0"} 42)") !=
             std::string::npos;
    });
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path() / "node_exporter"));
}

TEST_F(Monitor, ReportsOnceThatTheTextFileCannotBeWritten) {
  std::ofstream(directory_.path() / "node_exporter") << "no directory";
  MachineMonitor monitor(options());
  for (int i = 0; i < 3; ++i) {
    waitUntil([&] { return monitor.takeSample().has_value(); });
  }
  EXPECT_THAT(problems(), ::testing::ElementsAre(HasSubstr("node_exporter")));
}

TEST_F(Monitor, SurvivesAnErrorHandlerThatThrows) {
  MachineMonitorOptions throwing = options();
  throwing.sampler.procDirectory = "/nowhere";
  throwing.sampler.onError = [](const Status&) { throw std::runtime_error("handler"); };
  MachineMonitor monitor(throwing);
  waitUntil([&] { return monitor.takeSample().has_value(); });
}

TEST_F(Monitor, LeavesTheTextFileToTheParentInAForkedChild) {
  auto monitor = std::make_unique<MachineMonitor>(options());
  monitor->noteStep(1);
  waitUntil([&] { return !text().empty(); });
  EXPECT_FALSE(monitor->isOfParent());
  const pid_t child = fork();
  if (child == 0) {
    const bool isOfParent = monitor->isOfParent();
    monitor.reset();
    _exit(isOfParent ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_THAT(text(), HasSubstr("steptape_machine_resident_bytes"));
  waitUntil([&] { return monitor->takeSample().has_value(); });
}

}  // namespace
}  // namespace steptape::detail::process
