// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "steptape/log/summary_writer.h"
#include "steptape/ranks/testing.h"

#include <gtest/gtest.h>

namespace steptape {

/// A directory for a run, and the reports of its writers.
class WriterFixture : public ::testing::Test {
 protected:
  /// Opens a writer whose reports the test receives.
  SummaryWriter open(WriterOptions options = {}) {
    options.onError = [this](const Status& status) {
      std::lock_guard<std::mutex> lock(mutex_);
      reports_.push_back(status.message());
    };
    return SummaryWriter(dir_.string(), std::move(options));
  }
  std::vector<std::string> reports() {
    std::lock_guard<std::mutex> lock(mutex_);
    return reports_;
  }
  static void expectOk(const Status& status) { EXPECT_TRUE(status.ok()) << status.message(); }

  testing::TempDir dir_;

 private:
  std::mutex mutex_;
  std::vector<std::string> reports_;
};

}  // namespace steptape
