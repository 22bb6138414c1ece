// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "steptape/process/machine_sampler.h"
#include "steptape/ranks/testing.h"

namespace steptape::test {

/// A /proc and a /sys that a test fills, without GPUs, and a clock that it moves.
class FakeSystem {
 public:
  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = directory_.path() / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  MachineSamplerOptions options() {
    MachineSamplerOptions options;
    options.procDirectory = directory_.string() + "/proc";
    options.sysDirectory = directory_.string() + "/sys";
    options.nvmlLibrary = "";
    options.clock = clock_;
    options.onError = [this](const Status& status) { problems.push_back(status.message()); };
    return options;
  }

  void pass(std::chrono::milliseconds time) { clock_->advance(time); }

  std::vector<std::string> problems;

 private:
  testing::TempDir directory_;
  std::shared_ptr<testing::FakeClock> clock_ = std::make_shared<testing::FakeClock>();
};

}  // namespace steptape::test
