// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <spawn.h>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "tools/tool_fixture.h"

namespace steptape {

/// Starts `steptape run` as a process of its own, in the test's directory, and sends it signals.
class RunFixture : public ToolFixture {
 protected:
  void SetUp() override {
    ToolFixture::SetUp();
    // The restarts of a test need no pause.
    pause_ = {"--pause", "1ms"};
  }
  void TearDown() override {
    if (tool_ > 0) {
      ::kill(tool_, SIGKILL);
      ::waitpid(tool_, nullptr, 0);
    }
    ToolFixture::TearDown();
  }

  /// Writes a script that the job or the tool can start.
  std::string writeScript(const std::string& name, const std::string& body) const {
    const std::string file = writeBytes(name, "#!/bin/sh\n" + body);
    EXPECT_EQ(::chmod(file.c_str(), 0755), 0);
    return file;
  }

  /// Starts "steptape run <arguments>" with SIGINT as in a terminal, whatever this process ignores.
  void start(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {STEPTAPE_TOOL, "run"});
    std::vector<char*> pointers;
    for (std::string& argument : arguments) {
      pointers.push_back(argument.data());
    }
    pointers.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, path("out").c_str(), O_WRONLY | O_CREAT, 0666);
    posix_spawn_file_actions_addopen(&files, 2, path("error").c_str(), O_WRONLY | O_CREAT, 0666);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t all;
    sigfillset(&all);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    const std::filesystem::path before = std::filesystem::current_path();
    std::filesystem::current_path(root_);
    const int error =
        ::posix_spawn(&tool_, STEPTAPE_TOOL, &files, &attributes, pointers.data(), environ);
    std::filesystem::current_path(before);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    ASSERT_EQ(error, 0);
  }

  /// Waits until a condition holds, and fails the test if it does not after a long time.
  static void waitUntil(const std::string& what, const std::function<bool()>& holds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (!holds()) {
      ASSERT_LT(std::chrono::steady_clock::now(), end) << what;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  void waitForFile(const std::string& name) const {
    waitUntil(name, [&] { return std::filesystem::exists(path(name)); });
  }

  void send(int signal) const { ASSERT_EQ(::kill(tool_, signal), 0); }

  /// Waits for the end of the tool, and returns its exit code and what it printed.
  Outcome finish() {
    int status = 0;
    waitUntil("the end of steptape run",
              [&] { return ::waitpid(tool_, &status, WNOHANG) == tool_; });
    tool_ = -1;
    return {WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status), contentOf("out"),
            contentOf("error")};
  }

  /// Runs "steptape run <arguments>" to its end.
  Outcome finishOf(const std::vector<std::string>& arguments) {
    start(arguments);
    return finish();
  }

  /// Waits until the process whose id is in the file has ended.
  void waitForEndOf(const std::string& name) const {
    const auto process = static_cast<pid_t>(std::stol(contentOf(name)));
    waitUntil("the end of process " + name,
              [&] { return ::kill(process, 0) != 0 && errno == ESRCH; });
  }

  /// Returns how many lines the file has: a job's script adds one at each start.
  std::size_t linesOf(const std::string& name) const {
    const std::string text = contentOf(name);
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }

  /// Returns the arguments: options, no pause between restarts, and the program.
  std::vector<std::string> job(std::vector<std::string> options,
                               const std::vector<std::string>& program) const {
    options.insert(options.end(), pause_.begin(), pause_.end());
    options.emplace_back("--");
    options.insert(options.end(), program.begin(), program.end());
    return options;
  }

  std::vector<std::string> pause_;

 private:
  pid_t tool_ = -1;
};

}  // namespace steptape
