// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <random>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log/writer/recovery.h"
#include "log/writer/run_contents.h"

#include <gmock/gmock.h>

namespace steptape::test {

/// A number in memory that two processes share: how many steps a program has logged.
class SharedCount {
 public:
  SharedCount() : descriptor_(memfd_create("count", 0)) {
    if (descriptor_ < 0 || ftruncate(descriptor_, sizeof *count_) != 0) {
      throw std::bad_alloc();
    }
    void* const memory =
        mmap(nullptr, sizeof *count_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
    if (memory == MAP_FAILED) {
      throw std::bad_alloc();
    }
    count_ = static_cast<std::atomic<std::int64_t>*>(memory);
  }
  SharedCount(const SharedCount&) = delete;
  SharedCount& operator=(const SharedCount&) = delete;
  ~SharedCount() {
    munmap(count_, sizeof *count_);
    close(descriptor_);
  }

  /// Inherited by programs.
  std::string descriptor() const { return std::to_string(descriptor_); }
  std::int64_t value() const { return count_->load(); }

 private:
  int descriptor_;
  std::atomic<std::int64_t>* count_ = nullptr;
};

/// How many kills a test tries: STEPTAPE_KILLS, or a few.
inline int killCount() {
  const char* const kills = std::getenv("STEPTAPE_KILLS");
  return kills != nullptr ? std::atoi(kills) : 3;
}

/// Kills a program that logs the scalars "loss", step / 2, by handle and "accuracy", step / 4, by
/// tag in an endless loop, once it has logged about `steps` steps. Its arguments are the run,
/// "counting" and the descriptor of a count, which it sets to a step after both calls of it.
///
/// @return how many steps it has logged; -1 if it did not end by the kill.
inline std::int64_t logUntilKilled(const std::string& program, const std::string& run,
                                   std::int64_t steps) {
  const SharedCount count;
  const std::string descriptor = count.descriptor();
  const pid_t child = fork();
  if (child == 0) {
    execl(program.c_str(), program.c_str(), run.c_str(), "counting", descriptor.c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  while (count.value() < steps) {
    if (waitpid(child, &status, WNOHANG) != 0) {
      return -1;
    }
  }
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? count.value() : -1;
}

/// Expects the steps 1, 2, ... of a curve once each, up to the last one that was logged: its last
/// call may have ended, or not.
inline void expectWhole(const Curves& curves, const std::string& tag, std::int64_t logged,
                        float factor) {
  const auto curve = curves.find(tag);
  if (curve == curves.end()) {
    EXPECT_EQ(logged, 0) << tag << " is missing";
    return;
  }
  const auto& points = curve->second;
  EXPECT_GE(points.size(), static_cast<std::size_t>(logged)) << tag << ": points are lost";
  EXPECT_LE(points.size(), static_cast<std::size_t>(logged + 1)) << tag << ": points are doubled";
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto step = static_cast<std::int64_t>(i + 1);
    ASSERT_EQ(points[i].first, step) << tag;
    ASSERT_EQ(points[i].second, factor * static_cast<float>(step)) << tag;
  }
}

/// Kills a program at random moments, and expects all that it has logged after a recovery.
inline void killAtRandomMoments(const std::string& program, const std::string& folder) {
  const char* const seed = std::getenv("STEPTAPE_SEED");
  std::mt19937 random(seed != nullptr ? std::atoi(seed) : 1);
  std::uniform_real_distribution<double> magnitude(0, std::log(2e4));
  for (int kill = 0; kill < killCount(); ++kill) {
    const std::string run = folder + "/run" + std::to_string(kill);
    const std::int64_t logged =
        logUntilKilled(program, run, std::llround(std::exp(magnitude(random))));
    ASSERT_GE(logged, 0) << "the program ended";
    detail::log::recoverRuns({run});
    const Curves curves = scalarsIn(run);
    expectWhole(curves, "loss", logged, 0.5F);
    expectWhole(curves, "accuracy", logged, 0.25F);
    // What a second recovery finds would be there twice.
    detail::log::recoverRuns({run});
    EXPECT_EQ(scalarsIn(run), curves);
    std::filesystem::remove_all(run);
  }
}

}  // namespace steptape::test
